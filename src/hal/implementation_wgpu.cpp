#include "hal/errors.h"
#include "hal/implementation.h"

// What is peculiar to wgpu-native (wgpu.h).

namespace torch_webgpu::hal {
namespace {

#define TORCH_WEBGPU_NATIVE_PROCS(X) \
  X(InstanceEnumerateAdapters)       \
  X(DevicePoll)                      \
  X(DeviceCreateShaderModuleTrusted) \
  X(QueueGetTimestampPeriod)         \
  X(SetLogCallback)                  \
  X(SetLogLevel)

struct NativeProcs {
#define X(name) decltype(&::wgpu##name) name = nullptr;
  TORCH_WEBGPU_NATIVE_PROCS(X)
#undef X
};

void discard_log(WGPULogLevel, WGPUStringView, void*) noexcept {}

class Wgpu final : public Implementation {
 public:
  explicit Wgpu(const ProcLoader& loader) : Implementation(loader.load()) {
#define X(name)  \
  native_.name = \
      reinterpret_cast<decltype(native_.name)>(loader.required("wgpu" #name));
    TORCH_WEBGPU_NATIVE_PROCS(X)
#undef X
    // Errors reach the user as exceptions; the library's own log would print
    // them a second time.
    native_.SetLogCallback(discard_log, nullptr);
    native_.SetLogLevel(WGPULogLevel_Off);
  }

  const char* name() const override { return "wgpu"; }

  WGPUInstance create_instance() override {
    WGPUInstanceExtras extras = {};
    extras.chain.sType = static_cast<WGPUSType>(WGPUSType_InstanceExtras);
    extras.backends = WGPUInstanceBackend_Primary;
    // Labels are for our own messages; drivers need not copy them.
    extras.flags = WGPUInstanceFlag_DiscardHalLabels;
    WGPUInstanceDescriptor descriptor = WGPU_INSTANCE_DESCRIPTOR_INIT;
    descriptor.nextInChain = &extras.chain;
    return procs_.CreateInstance(&descriptor);
  }

  std::vector<WGPUAdapter> enumerate_adapters(WGPUInstance instance) override {
    WGPUInstanceEnumerateAdapterOptions options = {};
    options.backends = WGPUInstanceBackend_Primary;
    std::vector<WGPUAdapter> adapters(
        native_.InstanceEnumerateAdapters(instance, &options, nullptr));
    if (!adapters.empty()) {
      native_.InstanceEnumerateAdapters(instance, &options, adapters.data());
    }
    return adapters;
  }

  WGPUFeatureName subgroup_feature() const override {
    return static_cast<WGPUFeatureName>(WGPUNativeFeature_Subgroup);
  }
  // Naga has subgroups built in and rejects the directive.
  std::string_view subgroup_directive() const override { return {}; }
  // wgpu.h names a feature PipelineCache but has no function to fill or read
  // one, so the cache stays unused; drivers keep one of their own.
  WGPUChainedStruct* device_chain(bool, BlobCache&) override { return nullptr; }

  WGPUShaderModule create_shader_module(
      WGPUDevice device, const WGPUShaderModuleDescriptor& descriptor,
      bool checked) override {
    if (checked) return procs_.DeviceCreateShaderModule(device, &descriptor);
    // Also leaves out the bound that Naga puts into every loop, which costs
    // more than the bounds checks.
    return native_.DeviceCreateShaderModuleTrusted(
        device, &descriptor, WGPUShaderRuntimeChecks_None);
  }

  // No create_pipeline_async(): wgpu-native has only a panic in its place. Nor
  // threads of ours: its error scopes are one stack for all threads, so that
  // nobody could tell whose pipeline failed, and using that one aborts.

  // wgpu chains its submits by semaphores, for which Mesa's CPU driver waits in
  // vkQueueSubmit.
  bool submit_waits(const DeviceInfo& info) const override {
    return info.adapter_type == "cpu";
  }

  // wgpuInstanceWaitAny panics in wgpu-native; polling the device runs the
  // callbacks of AllowProcessEvents mode. Never a poll that waits: it keeps a
  // lock that every submit needs.
  void poll(const WaitTarget& target) override {
    if (target.device == nullptr) {
      procs_.InstanceProcessEvents(target.instance);
    } else {
      native_.DevicePoll(target.device, false, nullptr);
    }
  }
  void wait(const WaitTarget& target) override { poll(target); }

  double timestamp_period(WGPUQueue queue) override {
    return native_.QueueGetTimestampPeriod(queue);
  }

 private:
  NativeProcs native_;
};

}  // namespace

std::unique_ptr<Implementation> make_wgpu(const ProcSource& source) {
  return std::make_unique<Wgpu>(ProcLoader(
      source, "wgpu-native",
      "install the Python package wgpu (pip install wgpu==0.32.0) or set "
      "TORCH_WEBGPU_WGPU_LIBRARY to the path of libwgpu_native"));
}

}  // namespace torch_webgpu::hal
