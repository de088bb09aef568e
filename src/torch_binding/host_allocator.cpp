#include "torch_binding/host_allocator.h"

#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <map>
#include <mutex>

namespace torch_webgpu::binding {
namespace {

// WebGPU maps only buffers of its own, so "pinned" memory is plain host
// memory; it is remembered so that Tensor.is_pinned() tells the truth about
// who asked for it. Leaked: deleters run after static destructors.
struct Blocks {
  std::mutex mutex;
  std::map<uintptr_t, size_t> sizes;  // by first address
};

Blocks& blocks() {
  static Blocks* blocks = new Blocks;
  return *blocks;
}

void free_block(void* data) {
  {
    std::lock_guard lock(blocks().mutex);
    blocks().sizes.erase(reinterpret_cast<uintptr_t>(data));
  }
  c10::free_cpu(data);
}

class HostAllocator final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* data = c10::alloc_cpu(bytes);
    if (data) {
      std::lock_guard lock(blocks().mutex);
      blocks().sizes[reinterpret_cast<uintptr_t>(data)] = bytes;
    }
    return {data, data, &free_block, c10::Device(c10::kCPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }

  void copy_data(void* dst, const void* src, size_t count) const override {
    default_copy_data(dst, src, count);
  }

  // The stream takes a write's bytes before it returns: no event to keep.
  bool record_event(void*, void*, c10::Stream) override { return true; }

  void empty_cache() override {}
  at::HostStats get_stats() override { return {}; }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}
};

HostAllocator allocator;
REGISTER_HOST_ALLOCATOR(at::kPrivateUse1, &allocator);

}  // namespace

c10::Allocator* host_allocator() {
  return &allocator;
}

bool is_pinned(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  std::lock_guard lock(blocks().mutex);
  auto next = blocks().sizes.upper_bound(address);
  if (next == blocks().sizes.begin()) {
    return false;
  }
  const auto& [first, size] = *std::prev(next);
  return address < first + size;
}

}  // namespace torch_webgpu::binding
