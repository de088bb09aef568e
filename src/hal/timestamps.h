#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "hal/kernel.h"

namespace torch_webgpu::hal {

struct Context;

struct KernelTiming {
  std::string label;
  uint64_t begin_ns = 0;  // on the device's own clock
  uint64_t end_ns = 0;
};

// The query sets of a profiled stream. The Device's lock is held for every
// call.
class TimestampRecorder {
 public:
  explicit TimestampRecorder(Context& context);
  ~TimestampRecorder();
  TimestampRecorder(const TimestampRecorder&) = delete;
  TimestampRecorder& operator=(const TimestampRecorder&) = delete;

  // For the pass of one dispatch of this kernel.
  WGPUPassTimestampWrites next(const Kernel& kernel);
  // Everything since the last call; submits, and gives the lock up to wait.
  std::vector<KernelTiming> take(std::unique_lock<std::mutex>& lock);

 private:
  // WebGPU allows 4096 queries per set, two for each dispatch.
  static constexpr uint32_t kQueries = 4096;
  struct Chunk {
    WGPUQuerySet queries;
    std::vector<const Kernel*> kernels;
  };

  void ensure_resolve_buffer();

  Context& context_;
  std::vector<Chunk> chunks_;
  WGPUBuffer resolve_ = nullptr;
};

}  // namespace torch_webgpu::hal
