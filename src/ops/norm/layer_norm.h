#pragma once

#include <ATen/core/Tensor.h>

// Normalisation of rows: layer_norm, rms_norm and group_norm are one set of
// kernels.
namespace torch_webgpu::ops {

enum class NormKind : uint8_t { Layer, Rms, Group };

// `rows` rows of `count` elements. A tensor [outer, channels, spatial] has one
// weight per channel: a layer norm's row is all channels (spatial is 1), a
// group norm's is the channels of one of `groups` groups.
struct NormShape {
  NormKind kind;
  int64_t rows;
  int64_t count;
  int64_t groups = 1;
  int64_t spatial = 1;

  int64_t channels() const { return count / spatial * groups; }
  int64_t outer() const { return groups == 0 ? 0 : rows / groups; }
};

// Writes `out` (like `input`), and float32 `mean` (not for Rms) and `rstd` of
// one element per row. Undefined `weight` and `bias` are 1 and 0.
void norm_forward(const NormShape&, const at::Tensor& input,
                  const at::Tensor& weight, const at::Tensor& bias, double eps,
                  const at::Tensor& out, const at::Tensor& mean,
                  const at::Tensor& rstd);

// The gradient of `input`, into `out` (like `input`).
void norm_backward_input(const NormShape&, const at::Tensor& grad,
                         const at::Tensor& input, const at::Tensor& mean,
                         const at::Tensor& rstd, const at::Tensor& weight,
                         const at::Tensor& out);

// The gradients of weight and bias: float32, one element per channel.
std::tuple<at::Tensor, at::Tensor> norm_backward_weights(
    const NormShape&, const at::Tensor& grad, const at::Tensor& input,
    const at::Tensor& mean, const at::Tensor& rstd);

}  // namespace torch_webgpu::ops
