#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hal/blob_cache.h"
#include "hal/device_info.h"
#include "hal/error_sink.h"
#include "hal/implementation.h"

// Internal to src/hal: what the parts of one Device share.

namespace torch_webgpu::hal {

class BindGroupCache;
class BufferPool;
class PipelineCache;
class Stream;

// The target of one asynchronous WebGPU call.
struct Completion {
  // What every callback ends with.
  void finish(bool succeeded, WGPUStringView text) noexcept;

  std::atomic<bool> done = false;
  bool success = false;
  WGPUErrorType error = WGPUErrorType_NoError;
  std::string message;
  WGPUComputePipeline pipeline = nullptr;  // of a pipeline's creation
};

// Outlives every WebGPU object of the device, so that a late callback always
// finds its target. `mutex` guards every WebGPU call and all parts; whoever
// waits for the GPU holds it. Parts' methods whose names end in _locked expect
// it to be held.
struct Context {
  ~Context();  // releases queue, device, adapter, instance, in this order

  void require_healthy() {
    if (errors.pending()) errors.rethrow();
  }
  WaitTarget target(WGPUFuture future = {}, uint64_t submission = 0) const {
    return {instance, device, future, submission};
  }
  // Waits until the completion is done; throws DeviceLost if the device is
  // lost before. Takes the completion over if its callback may still come.
  void await(std::unique_ptr<Completion>& completion, WGPUFuture future,
             uint64_t submission = 0);
  // Throws what an ErrorScope caught, or DeviceLost if that is the reason.
  [[noreturn]] void raise(WGPUErrorType type, const std::string& message);
  // Creates a buffer inside error scopes; throws OutOfMemory or Error.
  WGPUBuffer create_buffer(WGPUBufferUsage usage, uint64_t size,
                           const char* label);

  std::mutex mutex;
  ErrorSink errors;
  std::unique_ptr<BlobCache> cache;
  std::unique_ptr<Implementation> implementation;
  Procs procs;
  WGPUInstance instance = nullptr;
  WGPUAdapter adapter = nullptr;
  WGPUDevice device = nullptr;
  WGPUQueue queue = nullptr;
  DeviceInfo info;
  Stats stats;
  bool validation = false;
  // The serial of the last window that the GPU has finished.
  std::atomic<uint64_t> completed_window = 0;

  PipelineCache* pipelines = nullptr;
  BindGroupCache* bind_groups = nullptr;
  BufferPool* pool = nullptr;
  Stream* stream = nullptr;

 private:
  std::vector<std::unique_ptr<Completion>> abandoned_;
};

// Catches the errors of the calls between its construction and finish(). Every
// creation runs in one: wgpu-native aborts the process when an invalid object
// is used. No scope has the Internal filter, which wgpu-native cannot take.
class ErrorScope {
 public:
  struct Caught {
    WGPUErrorType type;
    std::string message;
  };
  explicit ErrorScope(Context& context, bool out_of_memory = false);
  ~ErrorScope();
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;
  std::optional<Caught> finish();  // throws DeviceLost

 private:
  std::optional<Caught> pop();
  Context& context_;
  int depth_;
};

}  // namespace torch_webgpu::hal
