// index_select, gather, take: elements read by way of an index.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/ScatterGatherChecks.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/index/indexed.h"
#include "ops/kernel/launch.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;

Tensor at_least_1d(const Tensor& t) {
  return t.dim() == 0 ? t.unsqueeze(0) : t;
}

// Runs `read` on out itself, or on a temporary where out cannot be written
// directly.
template <class Read>
void into(const Tensor& out, std::initializer_list<const Tensor*> inputs,
          Read&& read) {
  bool direct = out.is_contiguous();
  for (const Tensor* input : inputs) {
    direct = direct && !same_buffer(*input, out);
  }
  if (direct || out.numel() == 0) {
    read(out);
    return;
  }
  const Tensor result = at::empty(out.sizes(), out.options());
  read(result);
  out.copy_(result);
}

void check_same_dtype(const char* name, const Tensor& self, const Tensor& out) {
  TORCH_CHECK(self.scalar_type() == out.scalar_type(), name,
              ": expected out to have dtype ", self.scalar_type(), ", but got ",
              out.scalar_type());
}

// A dimension without elements has none that an index could mean.
void check_not_empty(const char* name, const Tensor& self, int64_t dim,
                     const Tensor& index) {
  TORCH_CHECK_INDEX(self.size(dim) != 0 || index.numel() == 0, name,
                    ": index is out of range for dimension ", dim,
                    ", which has no elements");
}

Tensor& index_select_out(const Tensor& self_, int64_t dim_, const Tensor& index,
                         Tensor& out) {
  check_same_dtype("index_select", self_, out);
  TORCH_CHECK_INDEX(index.dim() <= 1,
                    "index_select: expected an index of one dimension, but "
                    "got one of ",
                    index.dim());
  const int64_t dim = at::maybe_wrap_dim(dim_, self_.dim());
  TORCH_CHECK(self_.dim() > 0 || index.numel() == 1,
              "index_select: an index into a scalar must have one element, "
              "but has ",
              index.numel());
  const Tensor self = at_least_1d(self_);
  const Indexing indexing = along_dim_rows("index_select", self, dim, index);
  check_not_empty("index_select", self, dim, index);
  resize_out(out, self_.dim() == 0 ? at::IntArrayRef() : indexing.sizes);
  into(out, {&self, &index},
       [&](const Tensor& to) { indexed_read(self, indexing, to); });
  return out;
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  Tensor out = at::empty({0}, self.options());
  return index_select_out(self, dim, index, out);
}

Tensor& gather_out(const Tensor& self_, int64_t dim_, const Tensor& index_,
                   bool sparse_grad, Tensor& out) {
  check_same_dtype("gather", self_, out);
  const int64_t dim = at::maybe_wrap_dim(dim_, self_.dim());
  resize_out(out, index_.sizes());
  if (index_.numel() == 0) return out;
  at::native::scatter_gather_dtype_check("gather", self_, index_, out);
  at::native::gather_shape_check(self_, dim, index_);
  const Tensor self = at_least_1d(self_);
  const Tensor index = at_least_1d(index_);
  check_not_empty("gather", self, dim, index);
  into(out, {&self, &index}, [&](const Tensor& to) {
    indexed_read(self, along_dim("gather", self, dim, index), to);
  });
  return out;
}

Tensor& take_out(const Tensor& self, const Tensor& index, Tensor& out) {
  check_same_dtype("take", self, out);
  TORCH_CHECK(index.scalar_type() == at::kLong,
              "take: expected an index of dtype int64, but got ",
              index.scalar_type());
  TORCH_CHECK_INDEX(self.numel() != 0 || index.numel() == 0,
                    "take: tried to take from an empty tensor");
  resize_out(out, index.sizes());
  const Tensor flat = self.reshape({-1});
  into(out, {&flat, &index}, [&](const Tensor& to) {
    Indexing indexing = along_dim("take", flat, 0, index.reshape({-1}));
    indexing.wraps = true;
    indexed_read(flat, indexing, to.view({-1}));
  });
  return out;
}

Tensor take(const Tensor& self, const Tensor& index) {
  Tensor out = at::empty(index.sizes(), self.options());
  return take_out(self, index, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("index_select", &index_select);
  m.impl("index_select.out", &index_select_out);
  m.impl("gather.out", &gather_out);
  m.impl("take", &take);
  m.impl("take.out", &take_out);
}

}  // namespace torch_webgpu::ops
