// embedding is index_select; this is its gradient.
#include <ATen/core/Tensor.h>
#include <ATen/ops/div.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/SymInt.h>
#include <torch/library.h>

#include "ops/index/scatter.h"
#include "ops/kernel/dtype.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;

Tensor embedding_dense_backward(const Tensor& grad_output,
                                const Tensor& indices, c10::SymInt num_weights,
                                c10::SymInt padding_idx,
                                bool scale_grad_by_freq) {
  const int64_t rows = num_weights.expect_int();
  const int64_t columns = grad_output.size(-1);
  const Tensor index = indices.reshape({-1});
  const auto walk = [&](const Tensor& t) {
    Indexing indexing = along_dim_rows("embedding", t, 0, index);
    indexing.skip = padding_idx.expect_int();
    return indexing;
  };
  const auto type = grad_output.scalar_type();
  const auto wide = grad_output.options().dtype(
      wgsl::is_float(wgsl::dtype_of(type)) ? at::kFloat : type);
  const Tensor sum = at::zeros({rows, columns}, wide);
  Tensor grad = grad_output.reshape({index.numel(), columns});
  if (scale_grad_by_freq) {
    const Tensor counts = at::zeros({rows}, wide);
    combine_into(counts, walk, at::ones({}, wide), Combine::Add);
    // A padding row has no count; its gradient is dropped as well.
    const Tensor scale = counts.clamp_min_(1).index_select(0, index);
    grad = at::div(grad.to(wide.dtype()), scale.unsqueeze(1));
  }
  combine_into(sum, walk, grad.to(wide.dtype()), Combine::Add);
  return sum.to(type);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"embedding_dense_backward", &embedding_dense_backward,
         takes_native_at<0>>(m);
}

}  // namespace torch_webgpu::ops
