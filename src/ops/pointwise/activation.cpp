// Activations and their gradients.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "ops/pointwise/promote.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using c10::Scalar;
using wgsl::DType;

enum class Domain : uint8_t { Floats, Numbers };

struct Row {
  const char* name;  // of aten's operator
  // The overload that writes into a tensor, or none. Torch makes the other
  // forms of a structured operator from it.
  const char* out;
  bool structured;
  Domain domain;
  // Forward: the argument is a. Gradient: the result's gradient is a, the
  // argument b. Then s0, s1 in the schema's order.
  uint8_t inputs;
  uint8_t scalars;
  const char* expression;
};

constexpr auto kFloats = Domain::Floats;
constexpr auto kNumbers = Domain::Numbers;
constexpr Row kRows[] = {
    {"relu", "out", false, kNumbers, 1, 0, "t_max(a, t_zero())"},
    {"leaky_relu", "out", true, kFloats, 1, 1,
     "select(a * s0, a, t_gt(a, 0.0))"},
    {"threshold", "out", true, kNumbers, 1, 2, "t_select(a, s1, t_le(a, s0))"},
    {"threshold_backward", "grad_input", true, kNumbers, 2, 1,
     "t_select(a, t_zero(), t_le(b, s0))"},
    {"hardtanh", "out", false, kNumbers, 1, 2, "t_min(t_max(a, s0), s1)"},
    {"hardtanh_backward", "grad_input", false, kFloats, 2, 2,
     "select(a, 0.0, t_le(b, s0) || t_ge(b, s1))"},
    {"hardsigmoid", "out", true, kFloats, 1, 0,
     "t_min(t_max(a + 3.0, 0.0), 6.0) * (1.0 / 6.0)"},
    {"hardsigmoid_backward", "grad_input", true, kFloats, 2, 0,
     "select(0.0, a * (1.0 / 6.0), t_gt(b, -3.0) && t_lt(b, 3.0))"},
    {"hardswish", "out", false, kFloats, 1, 0,
     "a * t_min(t_max(a + 3.0, 0.0), 6.0) * (1.0 / 6.0)"},
    {"hardswish_backward", nullptr, false, kFloats, 2, 0,
     "select(select(a, a * (b * (1.0 / 3.0) + 0.5), t_lt(b, 3.0)), 0.0, "
     "t_le(b, -3.0))"},
    {"hardshrink", "out", true, kFloats, 1, 1,
     "select(a, 0.0, t_ge(a, -s0) && t_le(a, s0))"},
    {"hardshrink_backward", "grad_input", true, kFloats, 2, 1,
     "select(a, 0.0, t_ge(b, -s0) && t_le(b, s0))"},
    {"softshrink", "out", true, kFloats, 1, 1,
     "select(select(select(0.0, a, is_nan(a)), a + s0, t_lt(a, -s0)), a - s0, "
     "t_gt(a, s0))"},
    {"softshrink_backward", "grad_input", true, kFloats, 2, 1,
     "select(a, 0.0, t_ge(b, -s0) && t_le(b, s0))"},
    {"softplus", "out", true, kFloats, 1, 2,
     "select(t_div(m_log1p(m_exp(a * s0)), s0), a, t_gt(a * s0, s1))"},
    {"softplus_backward", "grad_input", true, kFloats, 2, 2,
     "select(a * m_sigmoid(b * s0), a, t_gt(b * s0, s1))"},
    {"silu", "out", true, kFloats, 1, 0, "a * m_sigmoid(a)"},
    {"silu_backward", "grad_input", true, kFloats, 2, 0,
     "a * m_sigmoid(b) * (1.0 + b * (1.0 - m_sigmoid(b)))"},
    {"mish", "out", true, kFloats, 1, 0, "a * m_tanh(m_log1p(m_exp(a)))"},
    {"mish_backward", nullptr, false, kFloats, 2, 0, "a * m_mish_slope(b)"},
};
constexpr size_t kCount = std::size(kRows);

std::vector<DType> dtypes_of(Domain domain) {
  if (domain == Domain::Floats) {
    return {std::begin(wgsl::kFloats), std::end(wgsl::kFloats)};
  }
  return {std::begin(wgsl::kNumbers), std::end(wgsl::kNumbers)};
}

const auto kIds = [] {
  std::array<OpId, kCount> ids;
  for (size_t i = 0; i < kCount; ++i) {
    const Row& row = kRows[i];
    ids[i] = register_pointwise({.name = row.name,
                                 .inputs = row.inputs,
                                 .expression = row.expression,
                                 .dtypes = dtypes_of(row.domain),
                                 .scalars = row.scalars});
  }
  return ids;
}();

// The forms of row I, whose schema has as many numbers as there are `S`.
template <size_t I, class... S>
struct Forward {
  static Tensor& out(const Tensor& self, const S&... scalars, Tensor& out) {
    run_pointwise(kIds[I], {&self, 1}, out, {scalars...});
    return out;
  }
  static Tensor functional(const Tensor& self, const S&... scalars) {
    Tensor result = at::empty_like(self);
    run_pointwise(kIds[I], {&self, 1}, result, {scalars...});
    return result;
  }
  static Tensor& in_place(Tensor& self, const S&... scalars) {
    return out(self, scalars..., self);
  }
};

template <size_t I, class... S>
struct Gradient {
  static Tensor& out(const Tensor& grad, const Tensor& self,
                     const S&... scalars, Tensor& out) {
    run_pointwise(kIds[I], std::array{grad, self}, out, {scalars...});
    return out;
  }
  static Tensor functional(const Tensor& grad, const Tensor& self,
                           const S&... scalars) {
    Tensor result = at::empty_like(self);
    return out(grad, self, scalars..., result);
  }
};

template <size_t I, class... S>
void register_forms(torch::Library& m) {
  constexpr const Row& row = kRows[I];
  constexpr EachTensor<row.domain == Domain::Floats ? &is_native_float
                                                    : &is_native_number>
      takes;
  using Forms =
      std::conditional_t<row.inputs == 1, Forward<I, S...>, Gradient<I, S...>>;
  if constexpr (row.out != nullptr) {
    native<OperatorName(row.name, ".", row.out), &Forms::out, takes>(m);
  }
  if constexpr (!row.structured) {
    native<row.name, &Forms::functional, takes>(m);
    if constexpr (row.inputs == 1) {
      native<OperatorName(row.name, "_"), &Forms::in_place, takes>(m);
    }
  }
}

template <size_t... I>
void register_rows(torch::Library& m, std::index_sequence<I...>) {
  const auto one = [&]<size_t J>() {
    if constexpr (kRows[J].scalars == 0) register_forms<J>(m);
    if constexpr (kRows[J].scalars == 1) register_forms<J, Scalar>(m);
    if constexpr (kRows[J].scalars == 2) register_forms<J, Scalar, Scalar>(m);
  };
  (one.template operator()<I>(), ...);
}

// Operators with arguments that choose among expressions.

const OpId kLeakyReluGradient = register_floats(
    "leaky_relu_backward", 2, 1, "select(a * s0, a, t_gt(b, 0.0))");

Tensor& leaky_relu_backward_out(const Tensor& grad, const Tensor& self,
                                const Scalar& slope, bool self_is_result,
                                Tensor& out) {
  const std::array tensors{grad, self};
  run_pointwise(kLeakyReluGradient, tensors, out, {slope});
  return out;
}

// s0 and s1 scale the negative and the positive part, s2 the negative part's
// argument.
const OpId kElu = register_floats(
    "elu", 1, 3, "select(a * s1, m_expm1(a * s2) * s0, t_lt(a, 0.0))");
const OpId kEluGradient = register_floats(
    "elu_backward", 2, 3,
    "select(a * s1, a * s2 * s0 * m_exp(b * s2), t_le(b, 0.0))");
const OpId kEluGradientByResult =
    register_floats("elu_backward_by_result", 2, 3,
                    "select(a * s1, a * s2 * (b + s0), t_le(b, 0.0))");

Tensor& elu_out(const Tensor& self, const Scalar& alpha, const Scalar& scale,
                const Scalar& input_scale, Tensor& out) {
  run_pointwise(kElu, {&self, 1}, out,
                {alpha.toDouble() * scale.toDouble(), scale, input_scale});
  return out;
}

Tensor& elu_backward_out(const Tensor& grad, const Scalar& alpha,
                         const Scalar& scale, const Scalar& input_scale,
                         bool is_result, const Tensor& self_or_result,
                         Tensor& out) {
  const std::array tensors{grad, self_or_result};
  run_pointwise(is_result ? kEluGradientByResult : kEluGradient, tensors, out,
                {alpha.toDouble() * scale.toDouble(), scale, input_scale});
  return out;
}

const OpId kGelu = register_floats("gelu", 1, 0, "a * m_normal_cdf(a)");
const OpId kGeluTanh = register_floats("gelu_tanh", 1, 0, "m_gelu_tanh(a)");
const OpId kGeluGradient = register_floats(
    "gelu_backward", 2, 0, "a * (m_normal_cdf(b) + b * m_normal_density(b))");
const OpId kGeluTanhGradient =
    register_floats("gelu_tanh_backward", 2, 0, "a * m_gelu_tanh_slope(b)");

bool wants_tanh(c10::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh",
              "gelu: approximate must be 'none' or 'tanh', but got '",
              approximate, "'");
  return approximate == "tanh";
}

Tensor& gelu_out(const Tensor& self, c10::string_view approximate,
                 Tensor& out) {
  run_pointwise(wants_tanh(approximate) ? kGeluTanh : kGelu, {&self, 1}, out);
  return out;
}

Tensor& gelu_backward_out(const Tensor& grad, const Tensor& self,
                          c10::string_view approximate, Tensor& out) {
  const std::array tensors{grad, self};
  run_pointwise(wants_tanh(approximate) ? kGeluTanhGradient : kGeluGradient,
                tensors, out);
  return out;
}

const OpId kLogSigmoid =
    register_floats("log_sigmoid", 1, 0, "m_log_sigmoid(a)");
const OpId kLogSigmoidGradient =
    register_floats("log_sigmoid_backward", 2, 0, "a * m_sigmoid(-b)");

// The buffer is the CPU's; other devices leave it empty.
std::tuple<Tensor&, Tensor&> log_sigmoid_forward_out(const Tensor& self,
                                                     Tensor& output,
                                                     Tensor& buffer) {
  run_pointwise(kLogSigmoid, {&self, 1}, output);
  return {output, buffer};
}

std::tuple<Tensor, Tensor> log_sigmoid_forward(const Tensor& self) {
  Tensor output = at::empty_like(self);
  Tensor buffer = at::empty({0}, self.options());
  log_sigmoid_forward_out(self, output, buffer);
  return {std::move(output), std::move(buffer)};
}

Tensor& log_sigmoid_backward_out(const Tensor& grad, const Tensor& self,
                                 const Tensor& buffer, Tensor& out) {
  const std::array tensors{grad, self};
  run_pointwise(kLogSigmoidGradient, tensors, out);
  return out;
}

Tensor log_sigmoid_backward(const Tensor& grad, const Tensor& self,
                            const Tensor& buffer) {
  Tensor out = at::empty_like(self);
  return log_sigmoid_backward_out(grad, self, buffer, out);
}

// The first half of a dimension, gated by the second.
const OpId kGlu = register_floats("glu", 2, 0, "a * m_sigmoid(b)");
const OpId kGluGateGradient = register_floats(
    "glu_backward_gate", 3, 0, "a * b * m_sigmoid(c) * (1.0 - m_sigmoid(c))");

std::array<Tensor, 2> halves_of(const Tensor& tensor, int64_t dim) {
  const int64_t half = tensor.size(dim) / 2;
  return {tensor.narrow(dim, 0, half), tensor.narrow(dim, half, half)};
}

Tensor& glu_out(const Tensor& self, int64_t dim, Tensor& out) {
  run_pointwise(kGlu, halves_of(self, at::maybe_wrap_dim(dim, self.dim())),
                out);
  return out;
}

Tensor& glu_backward_out(const Tensor& grad, const Tensor& self, int64_t dim,
                         Tensor& out) {
  prepare_out(out, self.sizes(), self.scalar_type());
  dim = at::maybe_wrap_dim(dim, self.dim());
  const auto [value, gate] = halves_of(self, dim);
  const auto [to_value, to_gate] = halves_of(out, dim);
  run_pointwise(kGlu, std::array{grad, gate}, to_value);
  run_pointwise(kGluGateGradient, std::array{grad, value, gate}, to_gate);
  return out;
}

Tensor glu_backward(const Tensor& grad, const Tensor& self, int64_t dim) {
  Tensor out = at::empty_like(self);
  return glu_backward_out(grad, self, dim, out);
}

// Of the argument and the slope, which broadcasts against it.
const OpId kPrelu =
    register_floats("prelu", 2, 0, "select(a * b, a, t_gt(a, 0.0))");
const OpId kPreluSelfGradient =
    register_floats("prelu_backward", 3, 0, "select(a * c, a, t_gt(b, 0.0))");
const OpId kPreluSlopeGradient = register_floats(
    "prelu_backward_slope", 2, 0, "select(a * b, 0.0, t_gt(b, 0.0))");

Tensor prelu(const Tensor& self, const Tensor& weight) {
  const std::array tensors{self, weight};
  Tensor out = at::empty_like(self);
  run_pointwise(kPrelu, tensors, out);
  return out;
}

std::tuple<Tensor, Tensor> prelu_backward(const Tensor& grad,
                                          const Tensor& self,
                                          const Tensor& weight) {
  const std::array tensors{grad, self, weight};
  Tensor to_self = at::empty_like(self), to_weight = at::empty_like(self);
  run_pointwise(kPreluSelfGradient, tensors, to_self);
  run_pointwise(kPreluSlopeGradient, std::span(tensors).first(2), to_weight);
  return {std::move(to_self), std::move(to_weight)};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  register_rows(m, std::make_index_sequence<kCount>());
  native<"leaky_relu_backward.grad_input", &leaky_relu_backward_out,
         takes_floats>(m);
  native<"elu.out", &elu_out, takes_floats>(m);
  native<"elu_backward.grad_input", &elu_backward_out, takes_floats>(m);
  native<"gelu.out", &gelu_out, takes_floats>(m);
  native<"gelu_backward.grad_input", &gelu_backward_out, takes_floats>(m);
  native<"log_sigmoid_forward", &log_sigmoid_forward, takes_floats>(m);
  native<"log_sigmoid_forward.output", &log_sigmoid_forward_out, takes_floats>(
      m);
  native<"log_sigmoid_backward", &log_sigmoid_backward, takes_floats>(m);
  native<"log_sigmoid_backward.grad_input", &log_sigmoid_backward_out,
         takes_floats>(m);
  native<"glu.out", &glu_out, takes_floats>(m);
  native<"glu_backward", &glu_backward, takes_floats>(m);
  native<"glu_backward.grad_input", &glu_backward_out, takes_floats>(m);
  native<"_prelu_kernel", &prelu, takes_floats>(m);
  native<"_prelu_kernel_backward", &prelu_backward, takes_floats>(m);
}

}  // namespace torch_webgpu::ops
