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

void launch_bytes(const hal::Kernel& kernel,
                  std::span<const at::TensorBase* const> tensors,
                  std::span<const std::byte> params, uint64_t workgroups) {
  if (workgroups == 0) return;
  auto& device = ops::device();
  const auto& limits = device.info().limits;
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
  TORCH_CHECK(bindings.size() <= limits.max_storage_buffers, kernel.label(),
              " needs ", bindings.size(),
              " buffer bindings for tensors of this size, and the adapter has ",
              limits.max_storage_buffers, ": use smaller tensors");
  const hal::Grid grid =
      hal::fold(workgroups, limits.max_workgroups_per_dimension);
  as_torch([&] { device.stream().dispatch(kernel, bindings, params, grid); });
}

}  // namespace torch_webgpu::ops
