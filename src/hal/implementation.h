#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "hal/blob_cache.h"
#include "hal/device_info.h"
#include "hal/procs.h"

namespace torch_webgpu::hal {

enum class ImplementationKind { Wgpu, Dawn };

// Throws Unavailable naming the two valid values.
ImplementationKind parse_implementation(std::string_view name);

// Told by a thread that is about to wait for the GPU, and when it has waited,
// without any lock of the HAL: a place to give up and take back a lock of the
// caller's (the interpreter's). end() gets what begin() returned.
struct WaitHooks {
  void* (*begin)() = nullptr;
  void (*end)(void*) = nullptr;
};

struct WaitTarget {
  WGPUInstance instance = nullptr;
  WGPUDevice device = nullptr;
  WGPUFuture future = {};
};

// Everything in which the two implementations differ. The Device's lock is held
// for every call that takes a device or a queue.
class Implementation {
 public:
  static std::unique_ptr<Implementation> create(ImplementationKind kind,
                                                const ProcSource& source);
  virtual ~Implementation() = default;

  const Procs& procs() const { return procs_; }

  virtual const char* name() const = 0;
  virtual WGPUInstance create_instance() = 0;
  // The caller releases the adapters.
  virtual std::vector<WGPUAdapter> enumerate_adapters(WGPUInstance) = 0;

  virtual WGPUFeatureName subgroup_feature() const = 0;
  // Goes before a shader that uses subgroups; may be empty.
  virtual std::string_view subgroup_directive() const = 0;
  // For WGPUDeviceDescriptor::nextInChain; owned by the implementation. It
  // uses the cache, which outlives the device, if it can.
  virtual WGPUChainedStruct* device_chain(bool validation,
                                          BlobCache& cache) = 0;
  // Called once, right after the device was made.
  virtual void prepare_device(WGPUDevice) {}
  // `checked` asks for bounds checks inside the shader, where they can be
  // chosen per module; otherwise device_chain() chose for all modules.
  virtual WGPUShaderModule create_shader_module(
      WGPUDevice, const WGPUShaderModuleDescriptor&, bool checked) = 0;

  // Makes a pipeline on other threads and tells the callback; nothing where the
  // implementation cannot.
  virtual std::optional<WGPUFuture> create_pipeline_async(
      WGPUDevice, const WGPUComputePipelineDescriptor&,
      WGPUCreateComputePipelineAsyncCallbackInfo) {
    return std::nullopt;
  }

  // Whether a submit waits, on the calling thread, for the one before it.
  virtual bool submit_waits(const DeviceInfo&) const { return false; }
  // Runs callbacks that are due; never waits.
  virtual void poll(const WaitTarget&) = 0;
  // Waits a bounded time for the target, which is not work of the GPU, and runs
  // callbacks that are due.
  virtual void wait(const WaitTarget&) = 0;
  // Nanoseconds per unit of a resolved timestamp.
  virtual double timestamp_period(WGPUQueue) = 0;

 protected:
  explicit Implementation(const Procs& procs) : procs_(procs) {}
  Procs procs_;
};

// One maker per implementation_*.cpp; use Implementation::create.
std::unique_ptr<Implementation> make_wgpu(const ProcSource& source);
std::unique_ptr<Implementation> make_dawn(const ProcSource& source);

}  // namespace torch_webgpu::hal
