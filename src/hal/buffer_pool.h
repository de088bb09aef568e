#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "hal/procs.h"

namespace torch_webgpu::hal {

struct Context;

// A whole WebGPU buffer, owned by the pool. The getters need no lock.
class Buffer {
 public:
  uint64_t id() const { return id_; }  // unique for the life of the process
  // Bytes that can be bound; a multiple of 4, at least what was asked for.
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
  bool live_ = false;
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

  Buffer* allocate_locked(uint64_t bytes);
  void free_locked(Buffer* buffer) noexcept;
  Buffer* take_cached(uint64_t size);
  Buffer* create(uint64_t size);
  void empty_cache_locked();
  void destroy(Buffer* buffer) noexcept;
  [[noreturn]] void throw_out_of_memory(uint64_t bytes, const char* why);

  Context& context_;
  const uint64_t memory_limit_;
  PoolStats stats_;
  std::map<uint64_t, Buffer*> free_lists_;   // size → first; never a null
  std::map<uintptr_t, Buffer*> by_address_;  // live and cached
  std::unordered_map<const Buffer*, std::unique_ptr<Buffer>> buffers_;
};

}  // namespace torch_webgpu::hal
