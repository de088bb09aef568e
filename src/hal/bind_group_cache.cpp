#include "hal/bind_group_cache.h"

#include <algorithm>

#include "hal/buffer_pool.h"
#include "hal/context.h"

namespace torch_webgpu::hal {
namespace {

// Far above what a training step uses; bounds programs that never repeat a
// combination of buffers.
constexpr size_t kMaxGroups = 16384;

}  // namespace

BindGroupCache::BindGroupCache(Context& context) : context_(context) {}

BindGroupCache::~BindGroupCache() {
  release_evicted();
  for (auto& [key, entry] : groups_) {
    context_.procs.BindGroupRelease(entry.group);
  }
}

size_t BindGroupCache::Hash::operator()(const View& view) const noexcept {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  uint64_t hash = reinterpret_cast<uintptr_t>(view.layout);
  for (const Piece& piece : view.pieces) {
    hash = (hash ^ piece.id) * kMultiplier;
    hash = (hash ^ (hash >> 29) ^ piece.offset) * kMultiplier;
    hash = (hash ^ (hash >> 31) ^ piece.size) * kMultiplier;
  }
  return hash ^ (hash >> 32);
}

bool BindGroupCache::Equal::operator()(const View& a,
                                       const View& b) const noexcept {
  return a.layout == b.layout &&
         std::equal(a.pieces.begin(), a.pieces.end(), b.pieces.begin(),
                    b.pieces.end(), [](const Piece& x, const Piece& y) {
                      return x.id == y.id && x.offset == y.offset &&
                             x.size == y.size;
                    });
}

WGPUBindGroup BindGroupCache::get(WGPUBindGroupLayout layout,
                                  std::span<const Piece> pieces) {
  const View view{layout, pieces};
  const auto it = groups_.find(view);
  if (it != groups_.end()) {
    it->second.last_used = ++clock_;
    return it->second.group;
  }
  if (groups_.size() >= kMaxGroups) evict_older_half();
  WGPUBindGroup group = create(view);
  groups_.emplace(Key{layout, {pieces.begin(), pieces.end()}},
                  Entry{group, ++clock_});
  return group;
}

WGPUBindGroup BindGroupCache::create(const View& view) {
  std::vector<WGPUBindGroupEntry> entries(view.pieces.size(),
                                          WGPU_BIND_GROUP_ENTRY_INIT);
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].binding = static_cast<uint32_t>(i);
    entries[i].buffer = view.pieces[i].buffer->handle_;
    entries[i].offset = view.pieces[i].offset;
    entries[i].size = view.pieces[i].size;
  }
  WGPUBindGroupDescriptor descriptor = WGPU_BIND_GROUP_DESCRIPTOR_INIT;
  descriptor.layout = view.layout;
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  ErrorScope scope(context_);
  WGPUBindGroup group =
      context_.procs.DeviceCreateBindGroup(context_.device, &descriptor);
  if (const auto caught = scope.finish()) {
    if (group != nullptr) context_.procs.BindGroupRelease(group);
    context_.raise(caught->type, caught->message);
  }
  ++context_.stats.bind_groups_created;
  return group;
}

void BindGroupCache::evict_older_half() {
  std::vector<uint64_t> ages;
  ages.reserve(groups_.size());
  for (const auto& [key, entry] : groups_)
    ages.push_back(entry.last_used);
  const auto middle = ages.begin() + static_cast<ptrdiff_t>(ages.size() / 2);
  std::nth_element(ages.begin(), middle, ages.end());
  const uint64_t median = *middle;
  evicted_.reserve(evicted_.size() + groups_.size());
  std::erase_if(groups_, [&](const auto& item) {
    if (item.second.last_used >= median) return false;
    evicted_.push_back(item.second.group);
    return true;
  });
}

void BindGroupCache::release_evicted() noexcept {
  for (WGPUBindGroup group : evicted_)
    context_.procs.BindGroupRelease(group);
  evicted_.clear();
}

void BindGroupCache::drop(
    const std::unordered_set<uint64_t>& buffer_ids) noexcept {
  std::erase_if(groups_, [&](const auto& item) {
    const auto& pieces = item.first.pieces;
    if (std::none_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
          return buffer_ids.contains(piece.id);
        })) {
      return false;
    }
    context_.procs.BindGroupRelease(item.second.group);
    return true;
  });
}

}  // namespace torch_webgpu::hal
