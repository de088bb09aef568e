// Losses of two tensors of one shape, element by element, then reduced.
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/sum.h>
#include <torch/library.h>

#include <array>

#include "ops/pointwise/promote.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using c10::Scalar;

// A loss sees the prediction as a and the target as b; a gradient the loss's
// gradient as a, then prediction and target as b and c, and has its factor for
// the reduction in s0. The numbers of the schema follow.
const OpId kMse = register_floats("mse_loss", 2, 0, "(a - b) * (a - b)");
const OpId kMseGradient =
    register_floats("mse_loss_backward", 3, 1, "s0 * 2.0 * (b - c) * a");
const OpId kSmoothL1 = register_floats(
    "smooth_l1_loss", 2, 1,
    "select(abs_f32(a - b) - 0.5 * s0, t_div(0.5 * (a - b) * (a - b), s0), "
    "t_lt(abs_f32(a - b), s0))");
const OpId kSmoothL1Gradient = register_floats(
    "smooth_l1_loss_backward", 3, 2,
    "s0 * a * select(select(t_div(b - c, s1), 1.0, t_ge(b - c, s1)), -1.0, "
    "t_le(b - c, -s1))");
const OpId kHuber = register_floats(
    "huber_loss", 2, 1,
    "select(s0 * (abs_f32(a - b) - 0.5 * s0), 0.5 * (a - b) * (a - b), "
    "t_le(abs_f32(a - b), s0))");
const OpId kHuberGradient = register_floats(
    "huber_loss_backward", 3, 2, "s0 * a * t_min(t_max(b - c, -s1), s1)");
const OpId kBce = register_floats(
    "binary_cross_entropy", 2, 0,
    "(b - 1.0) * t_max(m_log1p(-a), -100.0) - b * t_max(m_log(a), -100.0)");
const OpId kBceGradient =
    register_floats("binary_cross_entropy_backward", 3, 1,
                    "s0 * a * t_div(b - c, t_max((1.0 - b) * b, 1e-12))");

bool has(const std::optional<Tensor>& weight) {
  return weight && weight->defined();
}

void reduce(OpId id, const Tensor& self, const Tensor& target,
            const std::optional<Tensor>& weight, int64_t reduction,
            std::initializer_list<Scalar> scalars, Tensor& out) {
  const std::array tensors{self, target};
  const bool whole = reduction == at::Reduction::None;
  Tensor each = whole ? out : at::empty({0}, self.options());
  run_pointwise(id, tensors, each, scalars);
  if (has(weight)) each.mul_(*weight);
  if (reduction == at::Reduction::Mean) {
    at::mean_out(out, each, at::IntArrayRef{});
  } else if (!whole) {
    at::sum_out(out, each, at::IntArrayRef{});
  }
}

// What the mean divides by.
double factor(const Tensor& self, int64_t reduction) {
  return reduction == at::Reduction::Mean ? 1.0 / double(self.numel()) : 1.0;
}

Tensor& mse_loss_out(const Tensor& self, const Tensor& target,
                     int64_t reduction, Tensor& out) {
  reduce(kMse, self, target, {}, reduction, {}, out);
  return out;
}

Tensor& mse_loss_backward_out(const Tensor& grad, const Tensor& self,
                              const Tensor& target, int64_t reduction,
                              Tensor& out) {
  run_pointwise(kMseGradient, std::array{grad, self, target}, out,
                {factor(self, reduction)});
  return out;
}

Tensor mse_loss_backward(const Tensor& grad, const Tensor& self,
                         const Tensor& target, int64_t reduction) {
  Tensor out = at::empty_like(self);
  return mse_loss_backward_out(grad, self, target, reduction, out);
}

Tensor& smooth_l1_loss_out(const Tensor& self, const Tensor& target,
                           int64_t reduction, double beta, Tensor& out) {
  reduce(kSmoothL1, self, target, {}, reduction, {beta}, out);
  return out;
}

Tensor& smooth_l1_loss_backward_out(const Tensor& grad, const Tensor& self,
                                    const Tensor& target, int64_t reduction,
                                    double beta, Tensor& out) {
  run_pointwise(kSmoothL1Gradient, std::array{grad, self, target}, out,
                {factor(self, reduction), beta});
  return out;
}

Tensor& huber_loss_out(const Tensor& self, const Tensor& target,
                       int64_t reduction, double delta, Tensor& out) {
  TORCH_CHECK(delta > 0,
              "huber_loss does not support non-positive values for delta, got ",
              delta);
  reduce(kHuber, self, target, {}, reduction, {delta}, out);
  return out;
}

Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction,
                  double delta) {
  Tensor out = at::empty({0}, self.options());
  return huber_loss_out(self, target, reduction, delta, out);
}

Tensor& huber_loss_backward_out(const Tensor& grad, const Tensor& self,
                                const Tensor& target, int64_t reduction,
                                double delta, Tensor& out) {
  run_pointwise(kHuberGradient, std::array{grad, self, target}, out,
                {factor(self, reduction), delta});
  return out;
}

Tensor& bce_out(const Tensor& self, const Tensor& target,
                const std::optional<Tensor>& weight, int64_t reduction,
                Tensor& out) {
  reduce(kBce, self, target, weight, reduction, {}, out);
  return out;
}

Tensor bce(const Tensor& self, const Tensor& target,
           const std::optional<Tensor>& weight, int64_t reduction) {
  Tensor out = at::empty({0}, self.options());
  return bce_out(self, target, weight, reduction, out);
}

Tensor& bce_backward_out(const Tensor& grad, const Tensor& self,
                         const Tensor& target,
                         const std::optional<Tensor>& weight, int64_t reduction,
                         Tensor& out) {
  run_pointwise(kBceGradient, std::array{grad, self, target}, out,
                {factor(self, reduction)});
  if (has(weight)) out.mul_(*weight);
  return out;
}

Tensor bce_backward(const Tensor& grad, const Tensor& self,
                    const Tensor& target, const std::optional<Tensor>& weight,
                    int64_t reduction) {
  Tensor out = at::empty_like(self);
  return bce_backward_out(grad, self, target, weight, reduction, out);
}

}  // namespace

// A weight may be of any dtype: it only multiplies the loss of each element.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"mse_loss.out", &mse_loss_out, takes_floats>(m);
  native<"mse_loss_backward", &mse_loss_backward, takes_floats>(m);
  native<"mse_loss_backward.grad_input", &mse_loss_backward_out, takes_floats>(
      m);
  native<"smooth_l1_loss.out", &smooth_l1_loss_out, takes_floats>(m);
  native<"smooth_l1_loss_backward.grad_input", &smooth_l1_loss_backward_out,
         takes_floats>(m);
  native<"huber_loss", &huber_loss, takes_floats>(m);
  native<"huber_loss.out", &huber_loss_out, takes_floats>(m);
  native<"huber_loss_backward.out", &huber_loss_backward_out, takes_floats>(m);
  native<"binary_cross_entropy", &bce, takes_floats_at<0, 1>>(m);
  native<"binary_cross_entropy.out", &bce_out, takes_floats_at<0, 1, 4>>(m);
  native<"binary_cross_entropy_backward", &bce_backward,
         takes_floats_at<0, 1, 2>>(m);
  native<"binary_cross_entropy_backward.grad_input", &bce_backward_out,
         takes_floats_at<0, 1, 2, 5>>(m);
}

}  // namespace torch_webgpu::ops
