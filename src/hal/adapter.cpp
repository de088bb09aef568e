#include "hal/adapter.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <utility>

#include "hal/errors.h"

namespace torch_webgpu::hal {
namespace {

const char* backend_name(WGPUBackendType type) {
  switch (type) {
    case WGPUBackendType_Vulkan:
      return "Vulkan";
    case WGPUBackendType_Metal:
      return "Metal";
    case WGPUBackendType_D3D12:
      return "D3D12";
    case WGPUBackendType_D3D11:
      return "D3D11";
    case WGPUBackendType_OpenGL:
      return "OpenGL";
    case WGPUBackendType_OpenGLES:
      return "OpenGLES";
    default:
      return "unknown";
  }
}

const char* type_name(WGPUAdapterType type) {
  switch (type) {
    case WGPUAdapterType_DiscreteGPU:
      return "discrete";
    case WGPUAdapterType_IntegratedGPU:
      return "integrated";
    case WGPUAdapterType_CPU:
      return "cpu";
    default:
      return "unknown";
  }
}

int rank(const DeviceInfo& info) {
  if (info.adapter_type == "discrete") return 0;
  if (info.adapter_type == "integrated") return 1;
  return info.adapter_type == "cpu" ? 3 : 2;
}

std::string lower(std::string text) {
  for (char& c : text)
    c = static_cast<char>(std::tolower((unsigned char)c));
  return text;
}

Limits to_limits(const WGPULimits& raw) {
  Limits limits;
  limits.max_buffer_size = raw.maxBufferSize / 16 * 16;
  limits.max_storage_binding_size = raw.maxStorageBufferBindingSize / 16 * 16;
  limits.max_storage_buffers = raw.maxStorageBuffersPerShaderStage;
  limits.max_workgroups_per_dimension = raw.maxComputeWorkgroupsPerDimension;
  limits.max_workgroup_invocations = raw.maxComputeInvocationsPerWorkgroup;
  limits.max_workgroup_size_x = raw.maxComputeWorkgroupSizeX;
  limits.max_workgroup_size_y = raw.maxComputeWorkgroupSizeY;
  limits.max_workgroup_size_z = raw.maxComputeWorkgroupSizeZ;
  limits.max_workgroup_storage = raw.maxComputeWorkgroupStorageSize;
  limits.storage_offset_alignment = raw.minStorageBufferOffsetAlignment;
  limits.uniform_offset_alignment = raw.minUniformBufferOffsetAlignment;
  return limits;
}

DeviceInfo describe(Context& context, WGPUAdapter adapter) {
  const Procs& procs = context.procs;
  DeviceInfo info;
  info.implementation = context.implementation->name();
  WGPUAdapterInfo raw = WGPU_ADAPTER_INFO_INIT;
  procs.AdapterGetInfo(adapter, &raw);
  info.vendor = to_string(raw.vendor);
  info.architecture = to_string(raw.architecture);
  info.description = to_string(raw.description);
  info.name = to_string(raw.device);
  if (info.name.empty()) info.name = info.description;
  info.backend = backend_name(raw.backendType);
  info.adapter_type = type_name(raw.adapterType);
  info.vendor_id = raw.vendorID;
  info.device_id = raw.deviceID;
  info.subgroup_min = raw.subgroupMinSize;
  info.subgroup_max = raw.subgroupMaxSize;
  procs.AdapterInfoFreeMembers(raw);
  const auto has = [&](WGPUFeatureName feature) {
    return procs.AdapterHasFeature(adapter, feature) != 0;
  };
  info.shader_f16 = has(WGPUFeatureName_ShaderF16);
  info.subgroups = has(context.implementation->subgroup_feature());
  info.timestamps = has(WGPUFeatureName_TimestampQuery);
  WGPULimits limits = WGPU_LIMITS_INIT;
  procs.AdapterGetLimits(adapter, &limits);
  info.limits = to_limits(limits);
  return info;
}

// Best first among those that fit; throws Unavailable.
size_t pick(const std::vector<DeviceInfo>& adapters, const std::string& wish) {
  std::string names;
  for (size_t i = 0; i < adapters.size(); ++i) {
    names += (i == 0 ? "" : ", ") + std::to_string(i) + ": \"" +
             adapters[i].name + "\"";
  }
  const bool number = !wish.empty() && wish.size() < 6 &&
                      std::all_of(
                          wish.begin(), wish.end(),
                          [](unsigned char c) { return std::isdigit(c) != 0; });
  if (number) {
    const size_t index = std::stoul(wish);
    if (index < adapters.size()) return index;
    throw Unavailable("there is no WebGPU adapter number " + wish +
                      "; set TORCH_WEBGPU_ADAPTER to one of " + names + ".");
  }
  size_t best = adapters.size();
  for (size_t i = 0; i < adapters.size(); ++i) {
    if (lower(adapters[i].name).find(lower(wish)) == std::string::npos) {
      continue;
    }
    if (best == adapters.size() || rank(adapters[i]) < rank(adapters[best])) {
      best = i;
    }
  }
  if (best == adapters.size()) {
    throw Unavailable("no WebGPU adapter has \"" + wish +
                      "\" in its name; set TORCH_WEBGPU_ADAPTER to a part of " +
                      names + ".");
  }
  return best;
}

struct DeviceRequest {
  std::atomic<bool> done = false;
  WGPUDevice device = nullptr;
  std::string message;
};

void on_device(WGPURequestDeviceStatus, WGPUDevice device,
               WGPUStringView message, void* request, void*) noexcept {
  auto* self = static_cast<DeviceRequest*>(request);
  self->device = device;
  try {
    self->message = to_string(message);
  } catch (...) {
    self->message.clear();
  }
  self->done = true;
}

}  // namespace

std::unique_ptr<Context> open_instance(const DeviceOptions& options) {
  auto context = std::make_unique<Context>();
  context->implementation =
      Implementation::create(options.implementation, options.procs);
  context->procs = context->implementation->procs();
  context->validation = options.validation;
  context->waiting = options.waiting;
  context->cache = std::make_unique<BlobCache>(options.cache_folder);
  context->instance = context->implementation->create_instance();
  if (context->instance == nullptr) {
    throw Unavailable(std::string(context->implementation->name()) +
                      " could not make a WebGPU instance; try the other "
                      "implementation (TORCH_WEBGPU_IMPL).");
  }
  return context;
}

void choose_adapter(Context& context, const DeviceOptions& options) {
  const auto adapters =
      context.implementation->enumerate_adapters(context.instance);
  if (adapters.empty()) {
    throw Unavailable(
        std::string(context.implementation->name()) +
        " finds no GPU driver; install a Vulkan driver (on Debian and Ubuntu "
        "the package mesa-vulkan-drivers serves machines without a GPU too).");
  }
  std::vector<DeviceInfo> infos;
  for (WGPUAdapter adapter : adapters) {
    infos.push_back(describe(context, adapter));
  }
  size_t chosen = adapters.size();
  const auto release_others = [&] {
    for (size_t i = 0; i < adapters.size(); ++i) {
      if (i != chosen) context.procs.AdapterRelease(adapters[i]);
    }
  };
  try {
    chosen = pick(infos, options.adapter);
  } catch (...) {
    release_others();
    throw;
  }
  release_others();
  context.adapter = adapters[chosen];
  context.info = infos[chosen];
}

void open_device(Context& context) {
  const Procs& procs = context.procs;
  WGPULimits limits = WGPU_LIMITS_INIT;
  procs.AdapterGetLimits(context.adapter, &limits);
  // Immediates are a feature of their own, which is not asked for.
  limits.maxImmediateSize = WGPU_LIMIT_U32_UNDEFINED;

  std::vector<WGPUFeatureName> features;
  if (context.info.shader_f16) features.push_back(WGPUFeatureName_ShaderF16);
  if (context.info.subgroups) {
    features.push_back(context.implementation->subgroup_feature());
  }
  if (context.info.timestamps) {
    features.push_back(WGPUFeatureName_TimestampQuery);
  }

  WGPUDeviceDescriptor descriptor = WGPU_DEVICE_DESCRIPTOR_INIT;
  descriptor.nextInChain =
      context.implementation->device_chain(context.validation, *context.cache);
  descriptor.label = view("torch_webgpu");
  descriptor.requiredFeatureCount = features.size();
  descriptor.requiredFeatures = features.data();
  descriptor.requiredLimits = &limits;
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
  descriptor.deviceLostCallbackInfo.callback = ErrorSink::on_lost;
  descriptor.deviceLostCallbackInfo.userdata1 = &context.errors;
  descriptor.uncapturedErrorCallbackInfo.callback = ErrorSink::on_uncaptured;
  descriptor.uncapturedErrorCallbackInfo.userdata1 = &context.errors;

  DeviceRequest request;
  WGPURequestDeviceCallbackInfo callback =
      WGPU_REQUEST_DEVICE_CALLBACK_INFO_INIT;
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = on_device;
  callback.userdata1 = &request;
  const WGPUFuture future =
      procs.AdapterRequestDevice(context.adapter, &descriptor, callback);
  while (!request.done)
    context.implementation->wait(context.target(future));
  if (request.device == nullptr) {
    throw Unavailable("the adapter \"" + context.info.name +
                      "\" gave no device (" + request.message +
                      "); choose another one with TORCH_WEBGPU_ADAPTER.");
  }
  context.device = request.device;
  context.implementation->prepare_device(context.device);
  context.queue = procs.DeviceGetQueue(context.device);
}

std::vector<DeviceInfo> list_adapters(const DeviceOptions& options) {
  const auto context = open_instance(options);
  std::vector<DeviceInfo> infos;
  for (WGPUAdapter adapter :
       context->implementation->enumerate_adapters(context->instance)) {
    infos.push_back(describe(*context, adapter));
    context->procs.AdapterRelease(adapter);
  }
  return infos;
}

DeviceInfo find_adapter(const DeviceOptions& options) {
  const auto context = open_instance(options);
  choose_adapter(*context, options);
  return context->info;
}

uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  uint64_t memory = 0;
  if (pages > 0 && page > 0) {
    memory = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  }
  // A container's own limit; the file holds "max" where there is none.
  uint64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit != 0) {
    memory = memory == 0 ? limit : std::min(memory, limit);
  }
  return memory;
}

}  // namespace torch_webgpu::hal
