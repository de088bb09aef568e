#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <array>

#include "ops/pointwise/promote.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;

const OpId kLogit = register_floats("logit", 1, 0, "m_log(t_div(a, 1.0 - a))");
// s0 and s1 are the bounds that eps leaves.
const OpId kLogitBounded = register_floats(
    "logit_eps", 1, 2,
    "m_log(t_div(t_min(t_max(a, s0), s1), 1.0 - t_min(t_max(a, s0), s1)))");
const OpId kGradient = register_floats(
    "logit_backward", 2, 0,
    "select(t_div(a, b * (1.0 - b)), nan_f32(), t_lt(b, 0.0) || t_gt(b, 1.0))");
const OpId kGradientBounded = register_floats(
    "logit_eps_backward", 2, 2,
    "select(t_div(a, b * (1.0 - b)), 0.0, t_lt(b, s0) || t_gt(b, s1))");

bool bounded(std::optional<double> eps) {
  return eps && *eps >= 0;
}

// Integers are read too, but no result is of theirs.
bool takes_out(const Tensor& self, std::optional<double>, const Tensor& out) {
  return is_native(self) && is_native_float(out);
}

Tensor& logit_out(const Tensor& self, std::optional<double> eps, Tensor& out) {
  const bool integral = c10::isIntegralType(self.scalar_type(), true);
  const Tensor a = integral ? self.to(to_float_type(self.scalar_type())) : self;
  if (bounded(eps)) {
    run_pointwise(kLogitBounded, {&a, 1}, out, {*eps, 1.0 - *eps});
  } else {
    run_pointwise(kLogit, {&a, 1}, out);
  }
  return out;
}

bool takes(const Tensor& self, std::optional<double>) {
  return have_dtypes({self.scalar_type(), to_float_type(self.scalar_type())});
}

Tensor logit(const Tensor& self, std::optional<double> eps) {
  Tensor out = at::empty_like(
      self, self.options().dtype(to_float_type(self.scalar_type())));
  return logit_out(self, eps, out);
}

Tensor& logit_(Tensor& self, std::optional<double> eps) {
  return logit_out(self, eps, self);
}

Tensor& logit_backward_out(const Tensor& grad, const Tensor& self,
                           std::optional<double> eps, Tensor& out) {
  const std::array tensors{grad, self};
  if (bounded(eps)) {
    run_pointwise(kGradientBounded, tensors, out, {*eps, 1.0 - *eps});
  } else {
    run_pointwise(kGradient, tensors, out);
  }
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"logit", &logit, &takes>(m);
  native<"logit_", &logit_, takes_floats>(m);
  native<"logit.out", &logit_out, &takes_out>(m);
  native<"logit_backward.grad_input", &logit_backward_out, takes_floats>(m);
}

}  // namespace torch_webgpu::ops
