#include "hal/timestamps.h"

#include <algorithm>
#include <utility>

#include "hal/context.h"
#include "hal/errors.h"
#include "hal/stream.h"

namespace torch_webgpu::hal {
namespace {

template <typename Work>
struct Finally {
  ~Finally() { work(); }
  Work work;
};

}  // namespace

TimestampRecorder::TimestampRecorder(Context& context) : context_(context) {}

TimestampRecorder::~TimestampRecorder() {
  for (Chunk& chunk : chunks_)
    context_.procs.QuerySetRelease(chunk.queries);
  if (resolve_ != nullptr) context_.procs.BufferRelease(resolve_);
}

WGPUPassTimestampWrites TimestampRecorder::next(const Kernel& kernel) {
  if (chunks_.empty() || chunks_.back().kernels.size() * 2 == kQueries) {
    WGPUQuerySetDescriptor descriptor = WGPU_QUERY_SET_DESCRIPTOR_INIT;
    descriptor.type = WGPUQueryType_Timestamp;
    descriptor.count = kQueries;
    ErrorScope scope(context_, /*out_of_memory=*/true);
    WGPUQuerySet queries =
        context_.procs.DeviceCreateQuerySet(context_.device, &descriptor);
    if (const auto caught = scope.finish()) {
      if (queries != nullptr) context_.procs.QuerySetRelease(queries);
      context_.raise(caught->type, caught->message);
    }
    chunks_.push_back({queries, {}});
  }
  Chunk& chunk = chunks_.back();
  const auto index = static_cast<uint32_t>(chunk.kernels.size() * 2);
  chunk.kernels.push_back(&kernel);
  WGPUPassTimestampWrites writes = WGPU_PASS_TIMESTAMP_WRITES_INIT;
  writes.querySet = chunk.queries;
  writes.beginningOfPassWriteIndex = index;
  writes.endOfPassWriteIndex = index + 1;
  return writes;
}

void TimestampRecorder::ensure_resolve_buffer() {
  if (resolve_ != nullptr) return;
  resolve_ = context_.create_buffer(
      WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc,
      kQueries * sizeof(uint64_t), "torch_webgpu timestamps");
}

std::vector<KernelTiming> TimestampRecorder::take(Lock& lock) {
  std::vector<KernelTiming> timings;
  if (chunks_.empty()) return timings;
  Stream& stream = *context_.stream;
  // From here on the chunks are this call's; commands that borrow their queries
  // are submitted before the first one is released.
  stream.submit(lock);
  const std::vector<Chunk> chunks = std::exchange(chunks_, {});
  const Finally release{[&] {
    for (const Chunk& chunk : chunks)
      context_.procs.QuerySetRelease(chunk.queries);
  }};
  ensure_resolve_buffer();
  const double period =
      context_.implementation->timestamp_period(context_.queue);
  std::vector<uint64_t> ticks;
  for (const Chunk& chunk : chunks) {
    ticks.resize(chunk.kernels.size() * 2);
    // No other thread comes between: the buffer is shared.
    stream.await_submittable(lock);
    stream.add(CommandList::ResolveQueries{
        chunk.queries, static_cast<uint32_t>(ticks.size()), resolve_});
    stream.read_back(lock, resolve_, nullptr, 0, ticks.data(),
                     ticks.size() * sizeof(uint64_t));
    for (size_t i = 0; i < chunk.kernels.size(); ++i) {
      const auto nanoseconds = [&](size_t at) {
        return static_cast<uint64_t>(static_cast<double>(ticks[at]) * period);
      };
      timings.push_back({chunk.kernels[i]->label(), nanoseconds(2 * i),
                         nanoseconds(2 * i + 1)});
    }
  }
  return timings;
}

}  // namespace torch_webgpu::hal
