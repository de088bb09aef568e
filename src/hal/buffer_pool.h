#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "hal/procs.h"

namespace torch_webgpu::hal {

struct Context;

// A whole WebGPU buffer, owned by the pool. The getters need no lock.
class Buffer {
 public:
  uint64_t id() const { return id_; }  // unique for the life of the process
  // Bytes that can be bound; a multiple of 16, at least what was asked for.
  uint64_t size() const { return size_; }
  // Bytes asked for in the current allocation.
  uint64_t requested() const { return requested_; }
  // Start of a reservation of size() bytes that nobody can read or write.
  void* address() const { return address_; }

 private:
  friend class BindGroupCache;
  friend class BufferPool;
  friend class Stream;

  static uint64_t next_id();

  WGPUBuffer handle_ = nullptr;
  uint64_t id_ = 0;
  uint64_t size_ = 0;
  uint64_t requested_ = 0;
  uint64_t last_window_ = 0;  // the stream's latest window that uses it
  void* address_ = nullptr;
  Buffer* next_free_ = nullptr;
  // Both are read under other locks than the pool's.
  std::atomic<uint64_t> allocation_ = 0;  // unique for the life of the pool
  std::atomic<bool> live_ = false;
};

// Bytes, but for the counts at the end. "allocated" counts live buffers at
// their full size, "requested" what callers asked for, "reserved" all buffers
// that exist, live or cached.
struct PoolStats {
  uint64_t allocated = 0;
  uint64_t peak_allocated = 0;
  uint64_t accumulated_allocated = 0;
  uint64_t accumulated_freed = 0;
  uint64_t requested = 0;
  uint64_t peak_requested = 0;
  uint64_t reserved = 0;
  uint64_t peak_reserved = 0;
  uint64_t active_blocks = 0;
  uint64_t peak_active_blocks = 0;
  uint64_t cached_blocks = 0;
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t buffers_created = 0;
  uint64_t buffers_destroyed = 0;
  uint64_t ooms = 0;
  uint64_t retries = 0;
};

// Caches whole buffers by size. A freed buffer is reusable at once, because all
// GPU work goes through one ordered stream; host writes check last_window_.
//
// Its lock guards its lists and figures only, so that whoever frees a buffer or
// takes a cached one waits for nobody, not even for a shader that another
// thread compiles. It is taken after the Device's, which new buffers need, and
// nothing is called under it.
class BufferPool {
 public:
  BufferPool(Context& context, uint64_t memory_limit);
  ~BufferPool();  // also frees buffers that were never freed
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // Any thread. A new buffer holds zeros, a reused one its old bytes. Throws
  // OutOfMemory with figures after it has flushed, waited, emptied the cache
  // and tried again.
  Buffer* allocate(uint64_t bytes);
  void free(Buffer* buffer) noexcept;  // any thread; null is ignored
  // The live buffer whose reservation holds the address, or null.
  Buffer* find(const void* address);
  void empty_cache();  // waits for the GPU
  PoolStats stats();
  void reset_peak();
  void reset_accumulated();
  uint64_t memory_limit() const { return memory_limit_; }  // 0 = unknown

  // The size class of a request, clamped to what the adapter can make.
  static uint64_t size_class(uint64_t bytes, uint64_t max_buffer_size);

 private:
  friend class Stream;
  using Lock = std::unique_lock<std::mutex>;

  // These expect the Device's lock and may give it up to wait.
  Buffer* allocate(Lock& lock, uint64_t bytes);
  std::unique_ptr<Buffer> create(Lock& lock, uint64_t size);
  void empty_cache(Lock& lock);

  uint64_t checked_size(uint64_t bytes);
  Buffer* take_cached(uint64_t size, uint64_t bytes);  // or null
  Buffer* hand_out(Buffer* buffer, uint64_t bytes);    // expects mutex_
  bool over_limit(uint64_t size);
  void destroy(Buffer* buffer) noexcept;
  [[noreturn]] void throw_out_of_memory(uint64_t bytes, const char* why);

  Context& context_;
  const uint64_t memory_limit_;
  std::mutex mutex_;  // guards what follows
  PoolStats stats_;
  uint64_t allocation_ = 0;                  // the last one's number
  std::map<uint64_t, Buffer*> free_lists_;   // size → first; never a null
  std::map<uintptr_t, Buffer*> by_address_;  // live and cached
  std::unordered_map<const Buffer*, std::unique_ptr<Buffer>> buffers_;
};

}  // namespace torch_webgpu::hal
