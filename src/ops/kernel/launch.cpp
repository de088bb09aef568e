#include "ops/kernel/launch.h"

#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include "hal/buffer_pool.h"
#include "hal/device.h"

namespace torch_webgpu::ops {
namespace {

// The bytes of a buffer that are bound for a view.
struct Range {
  uint64_t begin, size;
};

// Inline: all is bound in nearly every launch.
bool bound_whole(const hal::Buffer& buffer, const hal::Limits& limits) {
  return buffer.size() <= limits.max_storage_binding_size;
}

Range range_of(const at::TensorBase& view, const hal::Limits& limits) {
  auto last = uint64_t(view.storage_offset());
  for (int64_t d = 0; d < view.dim(); ++d) {
    last += uint64_t(view.size(d) - 1) * uint64_t(view.stride(d));
  }
  const auto item = uint64_t(view.element_size());
  // The alignment is a multiple of every element's size.
  const uint64_t alignment = limits.storage_offset_alignment;
  const uint64_t begin =
      uint64_t(view.storage_offset()) * item / alignment * alignment;
  // Whole units of 16 bytes, which is what a wide access moves.
  const uint64_t end = ceil_div((last + 1) * item, 16) * 16;
  return {begin, std::min(end, buffer_of(view)->size()) - begin};
}

uint64_t windows_of(const Range& range, const hal::Limits& limits) {
  return range.size <= limits.max_storage_binding_size
             ? 1
             : ceil_div(range.size, wgsl::kWindowBytes);
}

}  // namespace

uint8_t windows_of(const at::TensorBase& view) {
  const auto& limits = device().info().limits;
  if (bound_whole(*buffer_of(view), limits)) return 1;
  return uint8_t(windows_of(range_of(view, limits), limits));
}

int64_t origin_of(const at::TensorBase& view) {
  const auto& limits = device().info().limits;
  if (bound_whole(*buffer_of(view), limits)) return 0;
  return int64_t(range_of(view, limits).begin) / view.element_size();
}

uint32_t offset_of(const at::TensorBase& view) {
  return uint32_t(view.storage_offset() - origin_of(view));
}

bool same_buffer(const at::TensorBase& a, const at::TensorBase& b) {
  return buffer_of(a) == buffer_of(b);
}

void launch_bytes(const hal::Kernel& kernel,
                  std::span<const at::TensorBase* const> tensors,
                  std::span<const std::byte> params, uint64_t workgroups,
                  bool reports) {
  if (workgroups == 0) return;
  const auto& limits = device().info().limits;
  c10::SmallVector<hal::BufferBinding, 8> bindings;
  for (const at::TensorBase* tensor : tensors) {
    hal::Buffer* buffer = buffer_of(*tensor);
    if (bound_whole(*buffer, limits)) {
      bindings.push_back({buffer});
      continue;
    }
    const Range range = range_of(*tensor, limits);
    const uint64_t windows = windows_of(range, limits);
    const uint64_t each = windows == 1 ? range.size : wgsl::kWindowBytes;
    for (uint64_t w = 0; w < windows; ++w) {
      bindings.push_back({buffer, range.begin + w * each,
                          std::min(each, range.size - w * each)});
    }
  }
  if (reports) bindings.push_back({device().stream().fault_buffer()});
  TORCH_CHECK(bindings.size() <= limits.max_storage_buffers, kernel.label(),
              " needs ", bindings.size(),
              " buffer bindings for tensors of this size, and the adapter has ",
              limits.max_storage_buffers, ": use smaller tensors");
  const hal::Grid grid =
      hal::fold(workgroups, limits.max_workgroups_per_dimension);
  as_torch([&] { device().stream().dispatch(kernel, bindings, params, grid); });
}

}  // namespace torch_webgpu::ops
