#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>

#include "hal/stream.h"
#include "ops/runtime/runtime.h"

namespace torch_webgpu::binding {
namespace {

using c10::CachingDeviceAllocator::DeviceStats;

void set_stat(c10::CachingAllocator::StatArray& array, uint64_t current,
              uint64_t peak, uint64_t allocated, uint64_t freed) {
  auto& stat =
      array[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
  stat.current = static_cast<int64_t>(current);
  stat.peak = static_cast<int64_t>(peak);
  stat.allocated = static_cast<int64_t>(allocated);
  stat.freed = static_cast<int64_t>(freed);
}

// torch's view of the HAL's pool: torch.accelerator.memory_* asks this class.
class Allocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    return ops::allocate_storage(bytes);
  }

  c10::DeleterFnPtr raw_deleter() const override {
    // data and context differ, so torch's raw interface does not apply.
    return nullptr;
  }

  bool is_simple_data_ptr(const c10::DataPtr& data) const override {
    return data.get_deleter() == &ops::free_storage;
  }

  void copy_data(void* dst, const void* src, size_t count) const override {
    if (count == 0) {
      return;
    }
    hal::Device& device = ops::device();
    hal::Buffer* to = device.pool().find(dst);
    hal::Buffer* from = device.pool().find(src);
    TORCH_INTERNAL_ASSERT(to && from, "webgpu: not a webgpu address");
    // Whole words: a buffer's size is a multiple of 4.
    ops::as_torch(
        [&] { device.stream().copy(from, 0, to, 0, (count + 3) / 4 * 4); });
  }

  bool initialized() override { return ops::device_created(); }

  void emptyCache(c10::MempoolId_t) override {
    if (ops::device_created()) {
      ops::as_torch([] { ops::device().pool().empty_cache(); });
    }
  }

  // One stream in order: nothing to remember.
  void recordStream(const c10::DataPtr&, c10::Stream) override {}

  DeviceStats getDeviceStats(c10::DeviceIndex) override {
    DeviceStats stats;
    if (!ops::device_created()) {
      return stats;
    }
    const hal::PoolStats pool = ops::device().pool().stats();
    set_stat(stats.allocation, pool.active_blocks, pool.peak_active_blocks,
             pool.allocations, pool.frees);
    stats.active = stats.allocation;
    set_stat(stats.segment, pool.active_blocks + pool.cached_blocks, 0,
             pool.buffers_created, pool.buffers_destroyed);
    set_stat(stats.allocated_bytes, pool.allocated, pool.peak_allocated,
             pool.accumulated_allocated, pool.accumulated_freed);
    stats.active_bytes = stats.allocated_bytes;
    set_stat(stats.reserved_bytes, pool.reserved, pool.peak_reserved, 0, 0);
    set_stat(stats.requested_bytes, pool.requested, pool.peak_requested, 0, 0);
    stats.num_alloc_retries = static_cast<int64_t>(pool.retries);
    stats.num_ooms = static_cast<int64_t>(pool.ooms);
    stats.num_device_alloc = static_cast<int64_t>(pool.buffers_created);
    stats.num_device_free = static_cast<int64_t>(pool.buffers_destroyed);
    return stats;
  }

  void resetAccumulatedStats(c10::DeviceIndex) override {
    if (ops::device_created()) {
      ops::device().pool().reset_accumulated();
    }
  }

  void resetPeakStats(c10::DeviceIndex) override {
    if (ops::device_created()) {
      ops::device().pool().reset_peak();
    }
  }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex) override {
    hal::BufferPool& pool = ops::device().pool();
    const size_t total = pool.memory_limit();
    const size_t reserved = pool.stats().reserved;
    return {total - std::min(total, reserved), total};
  }
};

Allocator allocator;
REGISTER_ALLOCATOR(c10::kPrivateUse1, &allocator);

}  // namespace
}  // namespace torch_webgpu::binding
