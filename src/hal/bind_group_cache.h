#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hal/procs.h"

namespace torch_webgpu::hal {

class Buffer;
struct Context;

// The bind groups of group 0, by layout and buffers. The Device's lock is held
// for every call.
class BindGroupCache {
 public:
  // A resolved binding: the size is never 0.
  struct Piece {
    const Buffer* buffer;
    uint64_t id;
    uint64_t offset;
    uint64_t size;
  };

  explicit BindGroupCache(Context& context);
  ~BindGroupCache();
  BindGroupCache(const BindGroupCache&) = delete;
  BindGroupCache& operator=(const BindGroupCache&) = delete;

  // Borrowed: the stream's open window may keep it, since no group is released
  // before the window is over. A hit allocates nothing.
  WGPUBindGroup get(WGPUBindGroupLayout layout, std::span<const Piece> pieces);
  // Called when the window is over.
  void release_evicted() noexcept;
  // Drops every group that holds one of these buffers, of which no open window
  // may have any.
  void drop(const std::unordered_set<uint64_t>& buffer_ids) noexcept;

 private:
  struct View {
    WGPUBindGroupLayout layout;
    std::span<const Piece> pieces;
  };
  struct Key {
    WGPUBindGroupLayout layout;
    std::vector<Piece> pieces;
    operator View() const { return {layout, pieces}; }
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const View& view) const noexcept;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const View& a, const View& b) const noexcept;
  };
  struct Entry {
    WGPUBindGroup group;
    uint64_t last_used;
  };

  WGPUBindGroup create(const View& view);
  void evict_older_half();

  Context& context_;
  uint64_t clock_ = 0;
  std::unordered_map<Key, Entry, Hash, Equal> groups_;
  std::vector<WGPUBindGroup> evicted_;  // the open window may borrow them
};

}  // namespace torch_webgpu::hal
