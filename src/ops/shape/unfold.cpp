// The gradient of unfold: windows that overlap are added up.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <c10/core/SymIntArrayRef.h>
#include <torch/library.h>

namespace torch_webgpu::ops {
namespace {

using at::Tensor;

Tensor unfold_backward(const Tensor& grad, c10::SymIntArrayRef input_sizes,
                       int64_t dim_, int64_t size, int64_t step) {
  const auto sizes = C10_AS_INTARRAYREF_SLOW(input_sizes);
  const Tensor result = at::zeros(sizes, grad.options());
  if (sizes.empty()) {
    return result.copy_(grad.reshape({}));
  }
  const int64_t dim = at::maybe_wrap_dim(dim_, int64_t(sizes.size()));
  if (step >= size) {
    result.unfold(dim, size, step).copy_(grad);
    return result;
  }
  const Tensor index = at::arange(sizes[dim], grad.options().dtype(at::kLong))
                           .unfold(0, size, step)
                           .reshape({-1});
  const Tensor rows = grad.movedim(-1, dim + 1).flatten(dim, dim + 1);
  return result.index_add_(dim, index, rows);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("unfold_backward", &unfold_backward);
}

}  // namespace torch_webgpu::ops
