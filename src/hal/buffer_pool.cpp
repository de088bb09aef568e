#include "hal/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>
#include <string>
#include <unordered_set>
#include <utility>

#include "hal/bind_group_cache.h"
#include "hal/context.h"
#include "hal/errors.h"
#include "hal/stream.h"

namespace torch_webgpu::hal {
namespace {

constexpr uint64_t kGranule = 256;
constexpr uint64_t kFineLimit = uint64_t{1} << 20;
constexpr WGPUBufferUsage kUsage =
    WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;

uint64_t round_up(uint64_t value, uint64_t step) {
  return (value + step - 1) / step * step;
}

std::string mebibytes(uint64_t bytes) {
  const uint64_t hundredths = bytes / (uint64_t{1} << 20) * 100 +
                              bytes % (uint64_t{1} << 20) * 100 / (1 << 20);
  std::string cents = std::to_string(hundredths % 100);
  if (cents.size() == 1) cents.insert(0, "0");
  return std::to_string(hundredths / 100) + "." + cents + " MiB";
}

}  // namespace

uint64_t Buffer::next_id() {
  static std::atomic<uint64_t> counter = 0;
  return ++counter;
}

BufferPool::BufferPool(Context& context, uint64_t memory_limit)
    : context_(context), memory_limit_(memory_limit) {}

BufferPool::~BufferPool() {
  for (auto& [raw, buffer] : buffers_)
    destroy(buffer.get());
}

uint64_t BufferPool::size_class(uint64_t bytes, uint64_t max_buffer_size) {
  const uint64_t step =
      bytes <= kFineLimit ? kGranule : std::bit_floor(bytes) / 8;
  const uint64_t rounded = round_up(std::max<uint64_t>(bytes, 1), step);
  return rounded <= max_buffer_size ? rounded : round_up(bytes, 16);
}

Buffer* BufferPool::allocate(uint64_t bytes) {
  context_.require_healthy();
  if (Buffer* buffer = take_cached(checked_size(bytes), bytes)) return buffer;
  Lock lock(context_.mutex);
  return allocate(lock, bytes);
}

Buffer* BufferPool::allocate(Lock& lock, uint64_t bytes) {
  context_.require_healthy();
  const uint64_t size = checked_size(bytes);
  if (Buffer* buffer = take_cached(size, bytes)) return buffer;
  auto owner = create(lock, size);
  Buffer* buffer = owner.get();
  const std::lock_guard guard(mutex_);
  by_address_[reinterpret_cast<uintptr_t>(buffer->address_)] = buffer;
  buffers_[buffer] = std::move(owner);
  ++stats_.buffers_created;
  stats_.reserved += size;
  stats_.peak_reserved = std::max(stats_.peak_reserved, stats_.reserved);
  return hand_out(buffer, bytes);
}

uint64_t BufferPool::checked_size(uint64_t bytes) {
  const uint64_t maximum = context_.info.limits.max_buffer_size;
  if (bytes > maximum) {
    throw_out_of_memory(bytes, "it is above the largest buffer");
  }
  return size_class(bytes, maximum);
}

Buffer* BufferPool::take_cached(uint64_t size, uint64_t bytes) {
  const std::lock_guard guard(mutex_);
  const auto it = free_lists_.lower_bound(size);
  if (it == free_lists_.end() || it->first > size + size / 4) return nullptr;
  Buffer* buffer = it->second;
  if (buffer->next_free_ != nullptr) {
    it->second = buffer->next_free_;
  } else {
    free_lists_.erase(it);
  }
  buffer->next_free_ = nullptr;
  --stats_.cached_blocks;
  return hand_out(buffer, bytes);
}

Buffer* BufferPool::hand_out(Buffer* buffer, uint64_t bytes) {
  buffer->allocation_ = ++allocation_;
  buffer->requested_ = bytes;
  buffer->live_ = true;
  stats_.allocated += buffer->size_;
  stats_.accumulated_allocated += buffer->size_;
  stats_.requested += bytes;
  ++stats_.active_blocks;
  ++stats_.allocations;
  stats_.peak_allocated = std::max(stats_.peak_allocated, stats_.allocated);
  stats_.peak_requested = std::max(stats_.peak_requested, stats_.requested);
  stats_.peak_active_blocks =
      std::max(stats_.peak_active_blocks, stats_.active_blocks);
  return buffer;
}

bool BufferPool::over_limit(uint64_t size) {
  const std::lock_guard guard(mutex_);
  return memory_limit_ != 0 && stats_.reserved + size > memory_limit_;
}

std::unique_ptr<Buffer> BufferPool::create(Lock& lock, uint64_t size) {
  const auto make_room = [&] {
    {
      const std::lock_guard guard(mutex_);
      ++stats_.retries;
    }
    empty_cache(lock);
  };
  if (over_limit(size)) {
    make_room();
    if (over_limit(size)) {
      throw_out_of_memory(size, "the memory limit is reached");
    }
  }
  void* address = mmap(nullptr, size, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    throw_out_of_memory(size, "no address space is left");
  }
  auto owner = std::make_unique<Buffer>();
  Buffer* buffer = owner.get();
  buffer->address_ = address;
  buffer->size_ = size;
  try {
    try {
      buffer->handle_ =
          context_.create_buffer(kUsage, size, "torch_webgpu tensor");
    } catch (const OutOfMemory&) {
      make_room();
      buffer->handle_ =
          context_.create_buffer(kUsage, size, "torch_webgpu tensor");
    }
  } catch (const OutOfMemory&) {
    munmap(address, size);
    throw_out_of_memory(size, "the driver has no memory left");
  } catch (...) {
    munmap(address, size);
    throw;
  }
  buffer->id_ = Buffer::next_id();
  return owner;
}

void BufferPool::free(Buffer* buffer) noexcept {
  if (buffer == nullptr) return;
  const std::lock_guard guard(mutex_);
  if (!buffer->live_) return;
  buffer->live_ = false;
  stats_.allocated -= buffer->size_;
  stats_.accumulated_freed += buffer->size_;
  stats_.requested -= buffer->requested_;
  --stats_.active_blocks;
  ++stats_.frees;
  try {
    Buffer*& head = free_lists_[buffer->size_];
    buffer->next_free_ = head;
    head = buffer;
    ++stats_.cached_blocks;
  } catch (const std::bad_alloc&) {
    // Out of host memory: the buffer stays unused until the Device goes.
  }
}

Buffer* BufferPool::find(const void* address) {
  const std::lock_guard guard(mutex_);
  const auto key = reinterpret_cast<uintptr_t>(address);
  auto it = by_address_.upper_bound(key);
  if (it == by_address_.begin()) return nullptr;
  --it;
  Buffer* buffer = it->second;
  return buffer->live_ && key < it->first + buffer->size_ ? buffer : nullptr;
}

void BufferPool::empty_cache() {
  Lock lock(context_.mutex);
  context_.require_healthy();
  empty_cache(lock);
}

void BufferPool::empty_cache(Lock& lock) {
  {
    const std::lock_guard guard(mutex_);
    if (free_lists_.empty()) return;
  }
  context_.stream->wait_idle(lock);
  std::unordered_set<uint64_t> ids;
  std::vector<std::unique_ptr<Buffer>> doomed;
  {
    const std::lock_guard guard(mutex_);
    for (auto& [size, head] : std::exchange(free_lists_, {})) {
      for (Buffer *buffer = head, *next; buffer != nullptr; buffer = next) {
        next = std::exchange(buffer->next_free_, nullptr);
        // Others may have recorded since the wait; then it stays.
        if (context_.stream->used_in_window(buffer)) {
          buffer->next_free_ =
              std::exchange(free_lists_[buffer->size_], buffer);
          continue;
        }
        ids.insert(buffer->id_);
        by_address_.erase(reinterpret_cast<uintptr_t>(buffer->address_));
        doomed.push_back(std::move(buffers_.extract(buffer).mapped()));
        stats_.reserved -= buffer->size_;
        ++stats_.buffers_destroyed;
        --stats_.cached_blocks;
      }
    }
  }
  context_.bind_groups->drop(ids);
  for (const auto& buffer : doomed)
    destroy(buffer.get());
  // wgpu-native gives memory back only when it is polled.
  context_.poll();
}

void BufferPool::destroy(Buffer* buffer) noexcept {
  context_.procs.BufferDestroy(buffer->handle_);
  context_.procs.BufferRelease(buffer->handle_);
  munmap(buffer->address_, buffer->size_);
}

PoolStats BufferPool::stats() {
  const std::lock_guard guard(mutex_);
  return stats_;
}

void BufferPool::reset_peak() {
  const std::lock_guard guard(mutex_);
  stats_.peak_allocated = stats_.allocated;
  stats_.peak_requested = stats_.requested;
  stats_.peak_reserved = stats_.reserved;
  stats_.peak_active_blocks = stats_.active_blocks;
}

void BufferPool::reset_accumulated() {
  const std::lock_guard guard(mutex_);
  stats_.accumulated_allocated = 0;
  stats_.accumulated_freed = 0;
  stats_.allocations = 0;
  stats_.frees = 0;
  stats_.buffers_created = 0;
  stats_.buffers_destroyed = 0;
  stats_.ooms = 0;
  stats_.retries = 0;
}

void BufferPool::throw_out_of_memory(uint64_t bytes, const char* why) {
  const std::lock_guard guard(mutex_);
  ++stats_.ooms;
  std::string text = "webgpu out of memory: tried to allocate " +
                     mebibytes(bytes) + " but " + why + " (" +
                     mebibytes(stats_.allocated) + " allocated, " +
                     mebibytes(stats_.reserved) + " reserved, largest buffer " +
                     mebibytes(context_.info.limits.max_buffer_size);
  if (memory_limit_ != 0) text += ", limit " + mebibytes(memory_limit_);
  throw OutOfMemory(text + "); free tensors or use smaller ones.");
}

}  // namespace torch_webgpu::hal
