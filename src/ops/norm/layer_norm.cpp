#include "ops/norm/layer_norm.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "ops/reduce/reduce.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using at::IntArrayRef;
using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

Tensor value(const OptionalTensor& tensor) {
  return tensor ? *tensor : Tensor();
}

NormShape shape_of(NormKind kind, const char* name, const Tensor& input,
                   IntArrayRef normalized_shape) {
  const int64_t depth = int64_t(normalized_shape.size());
  TORCH_CHECK(depth >= 1, name,
              ": expected normalized_shape to be at least 1-dimensional, i.e. "
              "containing at least one element, but got normalized_shape = ",
              normalized_shape);
  TORCH_CHECK(
      input.dim() >= depth &&
          input.sizes().slice(size_t(input.dim() - depth)) == normalized_shape,
      name, ": given normalized_shape = ", normalized_shape,
      ", expected an input that ends with these sizes, but got input "
      "of size ",
      input.sizes());
  const int64_t count = c10::multiply_integers(normalized_shape);
  const int64_t rows = c10::multiply_integers(
      input.sizes().slice(0, size_t(input.dim() - depth)));
  return {kind, rows, count, 1, 1};
}

void check_parameter(const char* name, const char* what, const Tensor& tensor,
                     IntArrayRef normalized_shape) {
  TORCH_CHECK(!tensor.defined() || tensor.sizes() == normalized_shape, name,
              ": expected ", what,
              " to be of same shape as normalized_shape, "
              "but got ",
              what, " of shape ",
              tensor.defined() ? tensor.sizes() : IntArrayRef(),
              " and normalized_shape = ", normalized_shape);
}

at::DimVector statistics_shape(const Tensor& input,
                               IntArrayRef normalized_shape) {
  at::DimVector shape(input.sizes());
  for (size_t i = 0; i < normalized_shape.size(); ++i) {
    shape[shape.size() - 1 - i] = 1;
  }
  return shape;
}

// A weight of another dtype than float32 or the input's is brought to the
// input's; the bias has the weight's.
Tensor parameter(const Tensor& tensor, const Tensor& like) {
  if (!tensor.defined() || tensor.scalar_type() == at::kFloat) return tensor;
  return tensor.to(like.scalar_type());
}

Tensor as_float(const Tensor& tensor) {
  return tensor.to(at::kFloat).contiguous();
}

std::tuple<Tensor, Tensor, Tensor> layer_norm(const Tensor& input,
                                              IntArrayRef normalized_shape,
                                              const OptionalTensor& weight_opt,
                                              const OptionalTensor& bias_opt,
                                              double eps) {
  constexpr const char* name = "layer_norm";
  const Tensor given_weight = value(weight_opt), given_bias = value(bias_opt);
  const NormShape shape =
      shape_of(NormKind::Layer, name, input, normalized_shape);
  check_parameter(name, "weight", given_weight, normalized_shape);
  check_parameter(name, "bias", given_bias, normalized_shape);
  TORCH_CHECK(at::isFloatingType(input.scalar_type()), name,
              ": expected a floating point input, got ", input.scalar_type());
  const Tensor weight = parameter(given_weight, input);
  Tensor bias = parameter(given_bias, input);
  if (weight.defined() && bias.defined()) bias = bias.to(weight.scalar_type());

  const Tensor out = at::empty_like(input, at::MemoryFormat::Contiguous);
  const auto statistics = statistics_shape(input, normalized_shape);
  const auto options = input.options().dtype(at::kFloat);
  // float32 whatever the input is, as torch has it on every device but the CPU.
  const Tensor mean = at::empty(statistics, options);
  const Tensor rstd = at::empty(statistics, options);
  norm_forward(shape, input, weight, bias, eps, out, mean, rstd);
  return {out, mean, rstd};
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(
    const Tensor& grad, const Tensor& input, IntArrayRef normalized_shape,
    const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight_opt,
    const OptionalTensor& bias_opt, std::array<bool, 3> mask) {
  const Tensor weight = value(weight_opt), bias = value(bias_opt);
  const NormShape shape =
      shape_of(NormKind::Layer, "layer_norm", input, normalized_shape);
  const Tensor g = grad.to(input.scalar_type());
  const Tensor m = as_float(mean), r = as_float(rstd);
  Tensor grad_input, grad_weight, grad_bias;
  if (mask[0]) {
    grad_input = at::empty_like(input, at::MemoryFormat::Contiguous);
    norm_backward_input(shape, g, input, m, r, parameter(weight, input),
                        grad_input);
  }
  if (mask[1] || mask[2]) {
    auto [dw, db] = norm_backward_weights(shape, g, input, m, r);
    const auto finish = [&](const Tensor& sum, const Tensor& like) {
      return sum.reshape(normalized_shape)
          .to((like.defined() ? like : input).scalar_type());
    };
    if (mask[1]) grad_weight = finish(dw, weight);
    if (mask[2]) grad_bias = finish(db, bias.defined() ? bias : weight);
  }
  return {grad_input, grad_weight, grad_bias};
}

std::tuple<Tensor, Tensor> rms_norm(const Tensor& input,
                                    IntArrayRef normalized_shape,
                                    const OptionalTensor& weight_opt,
                                    std::optional<double> eps) {
  const Tensor given_weight = value(weight_opt);
  const NormShape shape =
      shape_of(NormKind::Rms, "rms_norm", input, normalized_shape);
  check_parameter("rms_norm", "weight", given_weight, normalized_shape);
  TORCH_CHECK(at::isFloatingType(input.scalar_type()),
              "rms_norm: expected a floating point input, got ",
              input.scalar_type());
  // Half types are computed in float32, and this is its epsilon, as on the CPU.
  const double small = eps.value_or(std::numeric_limits<float>::epsilon());
  const Tensor out = at::empty_like(input, at::MemoryFormat::Contiguous);
  const Tensor rstd = at::empty(statistics_shape(input, normalized_shape),
                                input.options().dtype(at::kFloat));
  norm_forward(shape, input, parameter(given_weight, input), {}, small, out, {},
               rstd);
  return {out, rstd};
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& grad,
                                             const Tensor& input,
                                             IntArrayRef normalized_shape,
                                             const Tensor& rstd,
                                             const OptionalTensor& weight_opt,
                                             std::array<bool, 2> mask) {
  const Tensor weight = value(weight_opt);
  const NormShape shape =
      shape_of(NormKind::Rms, "rms_norm", input, normalized_shape);
  const Tensor g = grad.to(input.scalar_type());
  const Tensor r = as_float(rstd);
  Tensor grad_input, grad_weight;
  if (mask[0]) {
    grad_input = at::empty_like(input, at::MemoryFormat::Contiguous);
    norm_backward_input(shape, g, input, {}, r, parameter(weight, input),
                        grad_input);
  }
  if (mask[1]) {
    auto [dw, db] = norm_backward_weights(shape, g, input, {}, r);
    grad_weight = dw.reshape(normalized_shape)
                      .to((weight.defined() ? weight : input).scalar_type());
  }
  return {grad_input, grad_weight};
}

std::tuple<Tensor, Tensor, Tensor> group_norm(const Tensor& input,
                                              const OptionalTensor& weight_opt,
                                              const OptionalTensor& bias_opt,
                                              int64_t batch, int64_t channels,
                                              int64_t spatial, int64_t groups,
                                              double eps) {
  const Tensor given_weight = value(weight_opt), given_bias = value(bias_opt);
  const NormShape shape{NormKind::Group, batch * groups,
                        channels / groups * spatial, groups,
                        std::max<int64_t>(spatial, 1)};
  const Tensor weight = parameter(given_weight, input);
  Tensor bias = parameter(given_bias, input);
  if (weight.defined() && bias.defined()) bias = bias.to(weight.scalar_type());
  const Tensor out = at::empty_like(input, at::MemoryFormat::Contiguous);
  const auto options = input.options().dtype(at::kFloat);
  Tensor mean = at::empty({batch, groups}, options);
  Tensor rstd = at::empty({batch, groups}, options);
  norm_forward(shape, input, weight, bias, eps, out, mean, rstd);
  const bool mixed =
      given_weight.defined() && given_weight.scalar_type() == at::kFloat;
  if (!mixed) {
    mean = mean.to(input.scalar_type());
    rstd = rstd.to(input.scalar_type());
  }
  return {out, mean, rstd};
}

std::tuple<Tensor, Tensor, Tensor> group_norm_backward(
    const Tensor& grad, const Tensor& input, const Tensor& mean,
    const Tensor& rstd, const OptionalTensor& weight_opt, int64_t batch,
    int64_t channels, int64_t spatial, int64_t groups,
    std::array<bool, 3> mask) {
  const Tensor weight = value(weight_opt);
  const NormShape shape{NormKind::Group, batch * groups,
                        channels / groups * spatial, groups,
                        std::max<int64_t>(spatial, 1)};
  const Tensor g = grad.to(input.scalar_type());
  const Tensor m = as_float(mean), r = as_float(rstd);
  Tensor grad_input, grad_weight, grad_bias;
  if (mask[0]) {
    grad_input = at::empty_like(input, at::MemoryFormat::Contiguous);
    norm_backward_input(shape, g, input, m, r, parameter(weight, input),
                        grad_input);
  }
  if (mask[1] || mask[2]) {
    auto [dw, db] = norm_backward_weights(shape, g, input, m, r);
    const auto type = (weight.defined() ? weight : input).scalar_type();
    if (mask[1]) grad_weight = dw.to(type);
    if (mask[2]) grad_bias = db.to(type);
  }
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"native_layer_norm", &layer_norm, takes_native>(m);
  native<"native_layer_norm_backward", &layer_norm_backward,
         takes_native_at<0, 1, 3, 4, 5>>(m);
  native<"_fused_rms_norm", &rms_norm, takes_native>(m);
  m.impl("_fused_rms_norm_backward", &rms_norm_backward);
  native<"native_group_norm", &group_norm, takes_native>(m);
  native<"native_group_norm_backward", &group_norm_backward,
         takes_native_at<0, 1, 2, 3, 4>>(m);
}

}  // namespace torch_webgpu::ops
