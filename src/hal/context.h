#pragma once

#include <atomic>
#include <functional>
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

using Lock = std::unique_lock<std::mutex>;

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
// finds its target. `mutex` guards every WebGPU call and all parts but the
// BufferPool, which has a lock of its own, taken last. Parts' methods whose
// names end in _locked expect it to be held; those that take a Lock expect it
// too and give it up while they wait, so whoever calls them has nothing in hand
// that another thread may change. Nobody waits for the GPU with it.
struct Context {
  ~Context();  // releases queue, device, adapter, instance, in this order

  void require_healthy() {
    if (errors.pending()) errors.rethrow();
  }
  WaitTarget target(WGPUFuture future = {}) const {
    return {instance, device, future};
  }
  // Runs callbacks that are due; never waits.
  void poll();
  // Waits until done() is true, which is asked with the lock held, after each
  // poll. The lock is free in between, and `waiting` is told. Returns whether
  // done() is true; it is not only if the device was lost.
  bool wait(Lock& lock, const std::function<bool()>& done);
  // Keeps a completion whose callback may still come, on a lost device.
  void abandon(std::unique_ptr<Completion> completion) noexcept;
  // Waits with the lock for what needs no GPU: an error scope, a device.
  // Throws DeviceLost if the device is lost before.
  void await(std::unique_ptr<Completion>& completion, WGPUFuture future);
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
  WaitHooks waiting;
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
