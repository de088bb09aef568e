#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/view_as_real.h>
#include <torch/library.h>

#include <bit>

#include "ops/kernel/launch.h"
#include "ops/pointwise/pointwise.h"
#include "ops/runtime/runtime.h"

namespace torch_webgpu::ops {
namespace {

// One element of each dimension that an expand() made, so that every place in
// memory is written once.
at::Tensor without_repeats(const at::Tensor& self) {
  at::Tensor once = self;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (self.stride(dim) == 0) once = once.narrow(dim, 0, 1);
  }
  return once;
}

at::Tensor& fill_scalar(at::Tensor& self, const c10::Scalar& value) {
  if (self.numel() == 0) return self;
  if (at::has_internal_overlap(self) == at::MemOverlap::Yes) {
    at::Tensor once = without_repeats(self);
    fill_scalar(once, value);
    return self;
  }
  if (wgsl::has_dtype(self.scalar_type())) {
    copy_elements(value, self);
  } else if (self.is_complex()) {
    const auto number = value.toComplexDouble();
    const at::Tensor parts = at::view_as_real(self);
    parts.select(-1, 0).fill_(number.real());
    parts.select(-1, 1).fill_(number.imag());
  } else if (self.scalar_type() == at::kDouble) {
    copy_elements(c10::Scalar(std::bit_cast<int64_t>(value.toDouble())),
                  self.view(at::kLong));
  } else {
    // The number in the dtype's own bits, made by the CPU.
    const at::Tensor host = at::empty({}, self.options().device(at::kCPU));
    host.fill_(value);
    self.copy_(host.expand(self.sizes()));
  }
  return self;
}

at::Tensor& fill_tensor(at::Tensor& self, const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0,
              "fill_ only supports 0-dimension value tensor but got tensor "
              "with ",
              value.dim(), " dimensions.");
  if (value.device().is_cpu()) return fill_scalar(self, value.item());
  self.copy_(value.expand(self.sizes()));
  return self;
}

at::Tensor& zero(at::Tensor& self) {
  const auto size = uint64_t(self.element_size());
  const uint64_t offset = uint64_t(self.storage_offset()) * size;
  const uint64_t bytes = uint64_t(self.numel()) * size;
  if (bytes > 0 && self.is_non_overlapping_and_dense() && offset % 4 == 0 &&
      (bytes % 4 == 0 || offset + bytes == self.storage().nbytes())) {
    as_torch([&] {
      device().stream().clear(buffer_of(self), offset, ceil_div(bytes, 4) * 4);
    });
    return self;
  }
  return fill_scalar(self, 0);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("fill_.Scalar", &fill_scalar);
  m.impl("fill_.Tensor", &fill_tensor);
  m.impl("zero_", &zero);
}

}  // namespace torch_webgpu::ops
