// cat: each input is copied to its place, with the copy kernel's casts.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/_copy_from.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/kernel/launch.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;

// As everywhere in torch, a one-dimensional tensor without elements joins
// tensors of any shape.
bool is_skipped(const Tensor& t) {
  return t.dim() == 1 && t.size(0) == 0;
}

void check_shape(const Tensor& first, const Tensor& t, int64_t dim,
                 size_t position) {
  TORCH_CHECK(first.dim() == t.dim(),
              "cat: tensors must have the same number of dimensions: got ",
              first.dim(), " and ", t.dim());
  for (int64_t d = 0; d < first.dim(); ++d) {
    TORCH_CHECK(d == dim || first.size(d) == t.size(d),
                "cat: sizes of tensors must match except in dimension ", dim,
                ". Expected size ", first.size(d), " but got size ", t.size(d),
                " for tensor number ", position, " in the list");
  }
}

Tensor& cat_out(const at::ITensorListRef& list, int64_t dim_, Tensor& out) {
  const auto tensors = list.materialize();
  TORCH_CHECK_VALUE(!tensors.empty(), "cat: expected a non-empty list");
  const Tensor* first = nullptr;
  for (const Tensor& t : tensors) {
    TORCH_CHECK(t.dim() > 0,
                "cat: a tensor of no dimensions cannot be concatenated");
    if (!first && !is_skipped(t)) first = &t;
  }
  if (!first) {
    resize_out(out, {0});
    return out;
  }
  const int64_t dim = at::maybe_wrap_dim(dim_, first->dim());
  at::DimVector sizes(first->sizes().begin(), first->sizes().end());
  sizes[dim] = 0;
  bool shares = false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (is_skipped(t)) continue;
    check_shape(*first, t, dim, i);
    sizes[dim] += t.size(dim);
    shares = shares || (t.numel() != 0 && same_buffer(t, out));
  }
  const auto result_type = at::native::result_type(list);
  TORCH_CHECK(c10::canCast(result_type, out.scalar_type()),
              "cat: the result's dtype ", result_type,
              " cannot be cast to out's dtype ", out.scalar_type());
  resize_out(out, sizes);
  const Tensor target = shares ? at::empty(sizes, out.options()) : out;
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    if (is_skipped(t) || t.size(dim) == 0) continue;
    const Tensor place = target.narrow(dim, at, t.size(dim));
    if (t.numel() != 0) at::_copy_from(t, place);
    at += t.size(dim);
  }
  if (shares) out.copy_(target);
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("cat.out", &cat_out);
}

}  // namespace torch_webgpu::ops
