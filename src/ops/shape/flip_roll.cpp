// flip, a read with negative strides, and roll, two copies per dimension.
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_copy_from.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/SymIntArrayRef.h>
#include <torch/library.h>

#include "ops/index/indexed.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;

Tensor flip(const Tensor& self, at::IntArrayRef dims) {
  const auto flipped = at::dim_list_to_bitset(dims, self.dim());
  const Tensor out = at::empty_like(self);
  if (self.numel() == 0) return out;
  Indexing walk;
  walk.self_offset = self.storage_offset();
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t stride = self.stride(d);
    walk.sizes.push_back(self.size(d));
    walk.index_strides.push_back(0);
    walk.self_strides.push_back(flipped[d] ? -stride : stride);
    if (flipped[d]) walk.self_offset += (self.size(d) - 1) * stride;
  }
  indexed_read(self, walk, out);
  return out;
}

Tensor roll_one(const Tensor& self, int64_t shift, int64_t dim_) {
  const int64_t dim = at::maybe_wrap_dim(dim_, self.dim());
  const int64_t size = self.size(dim);
  const int64_t start = ((shift % size) + size) % size;
  const Tensor out = at::empty(self.sizes(), self.options());
  at::_copy_from(self.narrow(dim, 0, size - start),
                 out.narrow(dim, start, size - start));
  if (start > 0) {
    at::_copy_from(self.narrow(dim, size - start, start),
                   out.narrow(dim, 0, start));
  }
  return out;
}

Tensor roll(const Tensor& self, c10::SymIntArrayRef shifts_,
            at::IntArrayRef dims) {
  const auto shifts = C10_AS_INTARRAYREF_SLOW(shifts_);
  TORCH_CHECK(!shifts.empty(), "roll: `shifts` is empty");
  if (dims.empty() && shifts.size() == 1) {
    if (self.numel() == 0) return self.clone();
    return roll_one(self.reshape({-1}), shifts[0], 0).view(self.sizes());
  }
  TORCH_CHECK(shifts.size() == dims.size(),
              "roll: shifts and dims must be "
              "of the same length, but have ",
              shifts.size(), " and ", dims.size(), " entries");
  if (self.numel() == 0) return self.clone();
  Tensor result = self;
  for (size_t i = 0; i < dims.size(); ++i) {
    result = roll_one(result, shifts[i], dims[i]);
  }
  return result;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("flip", &flip);
  m.impl("roll", &roll);
}

}  // namespace torch_webgpu::ops
