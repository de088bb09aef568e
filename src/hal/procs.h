#pragma once

#include <webgpu.h>
#include <wgpu.h>

#include <string>
#include <string_view>

namespace torch_webgpu::hal {

// Where procs come from. `library` is a path for dlopen (used if
// get_proc_address is null); get_proc_address is a WGPUProcGetProcAddress (Dawn
// inside a Python package).
struct ProcSource {
  std::string library;
  void* get_proc_address = nullptr;
};

// Every standard function that src/hal calls, without its "wgpu" prefix.
#define TORCH_WEBGPU_PROCS(X)             \
  X(CreateInstance)                       \
  X(InstanceRelease)                      \
  X(InstanceProcessEvents)                \
  X(InstanceRequestAdapter)               \
  X(AdapterGetInfo)                       \
  X(AdapterInfoFreeMembers)               \
  X(AdapterGetLimits)                     \
  X(AdapterHasFeature)                    \
  X(AdapterRequestDevice)                 \
  X(AdapterRelease)                       \
  X(DeviceGetQueue)                       \
  X(DevicePushErrorScope)                 \
  X(DevicePopErrorScope)                  \
  X(DeviceCreateBuffer)                   \
  X(DeviceCreateBindGroup)                \
  X(DeviceCreateBindGroupLayout)          \
  X(DeviceCreatePipelineLayout)           \
  X(DeviceCreateShaderModule)             \
  X(DeviceCreateComputePipeline)          \
  X(DeviceCreateCommandEncoder)           \
  X(DeviceCreateQuerySet)                 \
  X(DeviceDestroy)                        \
  X(DeviceRelease)                        \
  X(BufferMapAsync)                       \
  X(BufferGetConstMappedRange)            \
  X(BufferUnmap)                          \
  X(BufferDestroy)                        \
  X(BufferRelease)                        \
  X(BindGroupRelease)                     \
  X(BindGroupLayoutRelease)               \
  X(PipelineLayoutRelease)                \
  X(ShaderModuleRelease)                  \
  X(ComputePipelineRelease)               \
  X(QuerySetRelease)                      \
  X(CommandEncoderBeginComputePass)       \
  X(CommandEncoderCopyBufferToBuffer)     \
  X(CommandEncoderClearBuffer)            \
  X(CommandEncoderResolveQuerySet)        \
  X(CommandEncoderFinish)                 \
  X(CommandEncoderRelease)                \
  X(CommandBufferRelease)                 \
  X(ComputePassEncoderSetPipeline)        \
  X(ComputePassEncoderSetBindGroup)       \
  X(ComputePassEncoderDispatchWorkgroups) \
  X(ComputePassEncoderEnd)                \
  X(ComputePassEncoderRelease)            \
  X(QueueSubmit)                          \
  X(QueueWriteBuffer)                     \
  X(QueueOnSubmittedWorkDone)             \
  X(QueueRelease)

struct Procs {
#define X(name) decltype(&::wgpu##name) name = nullptr;
  TORCH_WEBGPU_PROCS(X)
#undef X
};

// Resolves names in one source. A library that it opened stays open for the
// life of the process: implementations own threads and thread-local state.
class ProcLoader {
 public:
  // `product` and `remedy` are the words of the error: "<product> cannot be
  // loaded from <source> (<why>); <remedy>". Throws Unavailable.
  ProcLoader(const ProcSource&, std::string product, std::string remedy);

  Procs load() const;
  void* required(const char* name) const;           // throws Unavailable
  void* optional(const char* name) const noexcept;  // null if absent

 private:
  std::string source_;
  std::string product_;
  std::string remedy_;
  WGPUProc (*get_proc_address_)(WGPUStringView) = nullptr;
  void* handle_ = nullptr;
};

inline WGPUStringView view(std::string_view text) {
  return {text.data(), text.size()};
}
std::string to_string(WGPUStringView text);

}  // namespace torch_webgpu::hal
