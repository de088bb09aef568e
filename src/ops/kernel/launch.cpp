#include "ops/kernel/launch.h"

#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include "hal/buffer_pool.h"
#include "hal/device.h"

namespace torch_webgpu::ops {
namespace {

uint64_t windows_of(const hal::Buffer& buffer, uint64_t binding_limit) {
  return buffer.size() <= binding_limit
             ? 1
             : ceil_div(buffer.size(), wgsl::kWindowBytes);
}

}  // namespace

uint8_t windows_of(const at::TensorBase& tensor) {
  const auto& limits = device().info().limits;
  return uint8_t(
      windows_of(*buffer_of(tensor), limits.max_storage_binding_size));
}

bool same_buffer(const at::TensorBase& a, const at::TensorBase& b) {
  return buffer_of(a) == buffer_of(b);
}

std::optional<ViewBinding> bind_view(const at::TensorBase& tensor) {
  const auto& limits = device().info().limits;
  hal::Buffer* buffer = buffer_of(tensor);
  if (buffer->size() <= limits.max_storage_binding_size) {
    return ViewBinding{{buffer}};
  }
  uint64_t last = uint64_t(tensor.storage_offset());
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    last += uint64_t(tensor.size(d) - 1) * uint64_t(tensor.stride(d));
  }
  const auto item = uint64_t(tensor.element_size());
  // The alignment is a multiple of every element's size.
  const uint64_t alignment = limits.storage_offset_alignment;
  const uint64_t begin =
      uint64_t(tensor.storage_offset()) * item / alignment * alignment;
  // Whole units of the widest access; buffers end with one.
  const uint64_t bytes = ceil_div((last + 1) * item - begin, 16) * 16;
  if (bytes > limits.max_storage_binding_size) return std::nullopt;
  return ViewBinding{{buffer, begin, bytes}, int64_t(begin / item)};
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
    const uint64_t windows =
        windows_of(*buffer, limits.max_storage_binding_size);
    if (windows == 1) {
      bindings.push_back({buffer});
      continue;
    }
    for (uint64_t w = 0; w < windows; ++w) {
      const uint64_t offset = w * wgsl::kWindowBytes;
      bindings.push_back(
          {buffer, offset,
           std::min(wgsl::kWindowBytes, buffer->size() - offset)});
    }
  }
  if (reports) bindings.push_back({device().stream().fault_buffer()});
  launch_bindings(kernel, bindings, params, workgroups);
}

void launch_bindings(const hal::Kernel& kernel,
                     std::span<const hal::BufferBinding> bindings,
                     std::span<const std::byte> params, uint64_t workgroups) {
  if (workgroups == 0) return;
  auto& device = ops::device();
  const auto& limits = device.info().limits;
  TORCH_CHECK(bindings.size() <= limits.max_storage_buffers, kernel.label(),
              " needs ", bindings.size(),
              " buffer bindings for tensors of this size, and the adapter has ",
              limits.max_storage_buffers, ": use smaller tensors");
  const hal::Grid grid =
      hal::fold(workgroups, limits.max_workgroups_per_dimension);
  as_torch([&] { device.stream().dispatch(kernel, bindings, params, grid); });
}

}  // namespace torch_webgpu::ops
