#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <tuple>

#include "hal/errors.h"
#include "hal/implementation.h"

// What is peculiar to Dawn. Its extensions are not in the webgpu.h that this
// project builds against, so the few that are used are declared here.

namespace torch_webgpu::hal {
namespace {

struct DawnTogglesDescriptor {
  WGPUChainedStruct chain;
  size_t enabled_count;
  const char* const* enabled;
  size_t disabled_count;
  const char* const* disabled;
};
constexpr auto kTogglesSType = static_cast<WGPUSType>(0x0005000A);

// Dawn's form of a callback, as in webgpu.h but without a mode.
template <typename Callback>
struct DawnCallbackInfo {
  WGPUChainedStruct* nextInChain;
  Callback* callback;
  void* userdata1;
  void* userdata2;
};

// Called without a place first, to learn the size; 0 = not there.
using LoadBlob = size_t(size_t key_bytes, const void* key, size_t value_bytes,
                        void* value, void* cache, void*);
using StoreBlob = void(size_t key_bytes, const void* key, size_t value_bytes,
                       const void* value, void* cache, void*);

// As in Dawn of 2026; older ones had bare functions here, so the cache is used
// only with a Dawn whose version is known.
struct DawnCacheDescriptor {
  WGPUChainedStruct chain;
  WGPUStringView isolation_key;
  DawnCallbackInfo<LoadBlob> load;
  DawnCallbackInfo<StoreBlob> store;
};
constexpr auto kCacheSType = static_cast<WGPUSType>(0x00050007);

BlobCache::Bytes bytes_of(const void* data, size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

size_t load_blob(size_t key_bytes, const void* key, size_t value_bytes,
                 void* value, void* cache, void*) noexcept {
  // Dawn asks twice for an entry, so the first answer waits for the second.
  thread_local std::optional<std::vector<std::byte>> found;
  if (value == nullptr) {
    found = static_cast<BlobCache*>(cache)->load(bytes_of(key, key_bytes));
    return found ? found->size() : 0;
  }
  if (!found || found->size() != value_bytes) return 0;
  std::memcpy(value, found->data(), value_bytes);
  found.reset();
  return value_bytes;
}

void store_blob(size_t key_bytes, const void* key, size_t value_bytes,
                const void* value, void* cache, void*) noexcept {
  static_cast<BlobCache*>(cache)->store(bytes_of(key, key_bytes),
                                        bytes_of(value, value_bytes));
}

using LogMessage = void(int type, WGPUStringView message, void*, void*);
using SetLoggingCallback = void (*)(WGPUDevice, DawnCallbackInfo<LogMessage>);

void discard_log(int, WGPUStringView, void*, void*) noexcept {}

struct AdapterRequest {
  std::atomic<bool> done = false;
  WGPUAdapter adapter = nullptr;
};

void on_adapter(WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView,
                void* request, void*) noexcept {
  auto* self = static_cast<AdapterRequest*>(request);
  self->adapter = adapter;
  self->done = true;
}

constexpr uint64_t kWaitNanoseconds = 1'000'000'000;

class Dawn final : public Implementation {
 public:
  explicit Dawn(const ProcLoader& loader) : Implementation(loader.load()) {
    wait_any_ = reinterpret_cast<decltype(wait_any_)>(
        loader.required("wgpuInstanceWaitAny"));
    create_pipeline_async_ = reinterpret_cast<decltype(create_pipeline_async_)>(
        loader.required("wgpuDeviceCreateComputePipelineAsync"));
    set_logging_callback_ = reinterpret_cast<SetLoggingCallback>(
        loader.optional("wgpuDeviceSetLoggingCallback"));
  }

  const char* name() const override { return "dawn"; }

  WGPUInstance create_instance() override {
    const WGPUInstanceFeatureName feature =
        WGPUInstanceFeatureName_TimedWaitAny;
    WGPUInstanceDescriptor descriptor = WGPU_INSTANCE_DESCRIPTOR_INIT;
    descriptor.requiredFeatureCount = 1;
    descriptor.requiredFeatures = &feature;
    return procs_.CreateInstance(&descriptor);
  }

  // webgpu.h cannot list adapters: ask for each kind and drop repetitions.
  std::vector<WGPUAdapter> enumerate_adapters(WGPUInstance instance) override {
    std::vector<WGPUAdapter> adapters;
    std::vector<std::tuple<uint32_t, uint32_t, std::string>> seen;
    constexpr std::array kPreferences = {WGPUPowerPreference_HighPerformance,
                                         WGPUPowerPreference_LowPower};
    for (const bool fallback : {false, true}) {
      for (const WGPUPowerPreference preference : kPreferences) {
        WGPUAdapter adapter = request(instance, preference, fallback);
        if (adapter == nullptr) continue;
        WGPUAdapterInfo info = WGPU_ADAPTER_INFO_INIT;
        procs_.AdapterGetInfo(adapter, &info);
        const bool null_backend = info.backendType == WGPUBackendType_Null;
        auto key =
            std::tuple(info.vendorID, info.deviceID, to_string(info.device));
        procs_.AdapterInfoFreeMembers(info);
        // Without any driver Dawn offers an adapter that computes nothing.
        if (null_backend ||
            std::find(seen.begin(), seen.end(), key) != seen.end()) {
          procs_.AdapterRelease(adapter);
          continue;
        }
        seen.push_back(std::move(key));
        adapters.push_back(adapter);
      }
    }
    return adapters;
  }

  WGPUFeatureName subgroup_feature() const override {
    return WGPUFeatureName_Subgroups;
  }
  std::string_view subgroup_directive() const override {
    return "enable subgroups;\n";
  }

  // Robustness belongs to the whole device here: without validation the WGSL
  // that a user supplies is not bounds-checked either.
  WGPUChainedStruct* device_chain(bool validation, BlobCache& cache) override {
    toggles_ = {};
    toggles_.chain.sType = kTogglesSType;
    toggles_.enabled_count = validation ? 0 : kUnchecked.size();
    toggles_.enabled = kUnchecked.data();
    toggles_.disabled_count = kNeverWanted.size();
    toggles_.disabled = kNeverWanted.data();
    if (cache.enabled()) {
      cache_ = {{nullptr, kCacheSType},
                {},
                {nullptr, load_blob, &cache, nullptr},
                {nullptr, store_blob, &cache, nullptr}};
      toggles_.chain.next = &cache_.chain;
    }
    return &toggles_.chain;
  }

  void prepare_device(WGPUDevice device) override {
    if (set_logging_callback_ != nullptr) {
      set_logging_callback_(device, {nullptr, discard_log, nullptr, nullptr});
    }
  }

  WGPUShaderModule create_shader_module(
      WGPUDevice device, const WGPUShaderModuleDescriptor& descriptor,
      bool) override {
    return procs_.DeviceCreateShaderModule(device, &descriptor);
  }

  std::optional<WGPUFuture> create_pipeline_async(
      WGPUDevice device, const WGPUComputePipelineDescriptor& descriptor,
      WGPUCreateComputePipelineAsyncCallbackInfo callback) override {
    return create_pipeline_async_(device, &descriptor, callback);
  }

  void poll(const WaitTarget& target) override {
    procs_.InstanceProcessEvents(target.instance);
  }
  void wait(const WaitTarget& target) override {
    WGPUFutureWaitInfo info = {};
    info.future = target.future;
    wait_any_(target.instance, 1, &info, kWaitNanoseconds);
  }

  double timestamp_period(WGPUQueue) override { return 1.0; }

 private:
  WGPUAdapter request(WGPUInstance instance, WGPUPowerPreference preference,
                      bool fallback) {
    WGPURequestAdapterOptions options = WGPU_REQUEST_ADAPTER_OPTIONS_INIT;
    options.powerPreference = preference;
    options.forceFallbackAdapter = fallback;
    AdapterRequest result;
    WGPURequestAdapterCallbackInfo callback =
        WGPU_REQUEST_ADAPTER_CALLBACK_INFO_INIT;
    callback.mode = WGPUCallbackMode_AllowProcessEvents;
    callback.callback = on_adapter;
    callback.userdata1 = &result;
    WaitTarget target;
    target.instance = instance;
    target.future = procs_.InstanceRequestAdapter(instance, &options, callback);
    while (!result.done)
      wait(target);
    return result.adapter;
  }

  // Not skip_validation: it saves 0.25 us of a dispatch's 1.3 us, and every
  // error would become undefined behaviour.
  static constexpr std::array<const char*, 1> kUnchecked = {
      "disable_robustness"};
  // Quantization would round every timestamp to 0.1 ms.
  static constexpr std::array<const char*, 1> kNeverWanted = {
      "timestamp_quantization"};

  decltype(&::wgpuInstanceWaitAny) wait_any_ = nullptr;
  decltype(&::wgpuDeviceCreateComputePipelineAsync) create_pipeline_async_ =
      nullptr;
  SetLoggingCallback set_logging_callback_ = nullptr;
  DawnTogglesDescriptor toggles_ = {};
  DawnCacheDescriptor cache_ = {};
};

}  // namespace

std::unique_ptr<Implementation> make_dawn(const ProcSource& source) {
  return std::make_unique<Dawn>(ProcLoader(
      source, "Dawn",
      "install the Python package wgpudawn (pip install wgpudawn==0.32.0.4) or "
      "set TORCH_WEBGPU_DAWN_LIBRARY to the path of a Dawn library"));
}

}  // namespace torch_webgpu::hal
