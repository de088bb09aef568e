// Pointwise operators of two tensors, or of a tensor and a number, a row each.
#include <ATen/ScalarOps.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/sub.h>
#include <torch/library.h>

#include <utility>

#include "ops/pointwise/promote.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::DType;

enum class Kind : uint8_t {
  Numeric,  // computes in the promoted dtype
  Float,    // integers are converted to the default float type
  Integer,  // integers and bool
  Logical,  // any dtype, bool results
};

struct Row {
  const char* name;             // of aten's operator
  const char* tensor_overload;  // (self, other, out)
  const char* scalar_overload;  // (self, Scalar, out), or none
  Kind kind;
  const char* expression;
};

constexpr Row kRows[] = {
    {"mul", "out", nullptr, Kind::Numeric, "t_mul(a, b)"},
    {"div", "out", nullptr, Kind::Float, "t_div(a, b)"},
    {"floor_divide", "out", nullptr, Kind::Numeric, "t_div_floor(a, b)"},
    {"fmod", "Tensor_out", "Scalar_out", Kind::Numeric, "t_rem_trunc(a, b)"},
    {"remainder", "Tensor_out", "Scalar_out", Kind::Numeric,
     "t_rem_floor(a, b)"},
    {"maximum", "out", nullptr, Kind::Numeric, "t_max(a, b)"},
    {"minimum", "out", nullptr, Kind::Numeric, "t_min(a, b)"},
    {"fmax", "out", nullptr, Kind::Numeric,
     "t_select(t_select(t_max(a, b), a, t_ne(b, b)), b, t_ne(a, a))"},
    {"fmin", "out", nullptr, Kind::Numeric,
     "t_select(t_select(t_min(a, b), a, t_ne(b, b)), b, t_ne(a, a))"},
    {"atan2", "out", nullptr, Kind::Float, "m_atan2(a, b)"},
    {"hypot", "out", nullptr, Kind::Float, "m_hypot(a, b)"},
    {"copysign", "out", nullptr, Kind::Float, "copysign_f32(a, b)"},
    {"xlogy", "OutTensor", nullptr, Kind::Float,
     "select(select(a * m_log(b), 0.0, is_zero_f32(a)), b, is_nan(b))"},
    {"special_xlog1py", "out", nullptr, Kind::Float,
     "select(select(a * m_log1p(b), 0.0, is_zero_f32(a)), b, is_nan(b))"},
    {"bitwise_and", "Tensor_out", "Scalar_out", Kind::Integer, "t_and(a, b)"},
    {"bitwise_or", "Tensor_out", "Scalar_out", Kind::Integer, "t_or(a, b)"},
    {"bitwise_xor", "Tensor_out", "Scalar_out", Kind::Integer, "t_xor(a, b)"},
    {"bitwise_left_shift", "Tensor_out", "Tensor_Scalar_out", Kind::Integer,
     "t_shl(a, b)"},
    {"bitwise_right_shift", "Tensor_out", "Tensor_Scalar_out", Kind::Integer,
     "t_shr(a, b)"},
    {"eq", "Tensor_out", "Scalar_out", Kind::Logical, "t_eq(a, b)"},
    {"ne", "Tensor_out", "Scalar_out", Kind::Logical, "t_ne(a, b)"},
    {"lt", "Tensor_out", "Scalar_out", Kind::Logical, "t_lt(a, b)"},
    {"le", "Tensor_out", "Scalar_out", Kind::Logical, "t_le(a, b)"},
    {"gt", "Tensor_out", "Scalar_out", Kind::Logical, "t_gt(a, b)"},
    {"ge", "Tensor_out", "Scalar_out", Kind::Logical, "t_ge(a, b)"},
    {"logical_and", "out", nullptr, Kind::Logical,
     "!t_is_zero(a) && !t_is_zero(b)"},
    {"logical_or", "out", nullptr, Kind::Logical,
     "!t_is_zero(a) || !t_is_zero(b)"},
    {"logical_xor", "out", nullptr, Kind::Logical,
     "t_is_zero(a) != t_is_zero(b)"},
    // Of the gradient and the forward pass's result.
    {"tanh_backward", "grad_input", nullptr, Kind::Float, "a * (1.0 - b * b)"},
    {"sigmoid_backward", "grad_input", nullptr, Kind::Float,
     "a * (1.0 - b) * b"},
};
constexpr size_t kCount = std::size(kRows);

std::vector<DType> dtypes_of(Kind kind) {
  std::vector<DType> all(std::begin(wgsl::kFloats), std::end(wgsl::kFloats));
  if (kind == Kind::Integer) all.clear();
  if (kind != Kind::Float) {
    all.insert(all.end(), std::begin(wgsl::kInts), std::end(wgsl::kInts));
    all.push_back(DType::Bool);
  }
  return all;
}

OpId register_row(const char* name, Kind kind, const char* expression,
                  uint8_t scalars = 0) {
  return register_pointwise(
      {.name = name,
       .inputs = 2,
       .expression = expression,
       .dtypes = dtypes_of(kind),
       .result = kind == Kind::Logical ? Result::Predicate : Result::Value,
       .scalars = scalars});
}

const auto kIds = [] {
  std::array<OpId, kCount> ids;
  for (size_t i = 0; i < kCount; ++i) {
    ids[i] = register_row(kRows[i].name, kRows[i].kind, kRows[i].expression);
  }
  return ids;
}();

c10::ScalarType compute_type(Kind kind, c10::ScalarType common) {
  return kind == Kind::Float ? to_float_type(common) : common;
}

template <size_t I>
at::Tensor& tensor_out(const at::Tensor& self, const at::Tensor& other,
                       at::Tensor& out) {
  constexpr const Row& row = kRows[I];
  const auto compute = compute_type(row.kind, common_type(self, other));
  const Input inputs[] = {operand(self, compute), operand(other, compute)};
  run_pointwise(kIds[I], compute, inputs, out);
  return out;
}

template <size_t I>
at::Tensor& scalar_out(const at::Tensor& self, const c10::Scalar& other,
                       at::Tensor& out) {
  constexpr const Row& row = kRows[I];
  const auto compute = compute_type(row.kind, common_type(self, other));
  const Input inputs[] = {operand(self, compute), other};
  run_pointwise(kIds[I], compute, inputs, out);
  return out;
}

const OpId kAdd = register_row("add", Kind::Numeric, "t_add(a, b)");
const OpId kAddScaled =
    register_row("add_scaled", Kind::Numeric, "t_add(a, t_mul(s0, b))", 1);
const OpId kSub = register_row("sub", Kind::Numeric, "t_sub(a, b)");
const OpId kSubScaled =
    register_row("sub_scaled", Kind::Numeric, "t_sub(a, t_mul(s0, b))", 1);
const OpId kDivTrunc =
    register_row("div_trunc", Kind::Numeric, "t_div_trunc(a, b)");
const OpId kDivFloor =
    register_row("div_floor", Kind::Numeric, "t_div_floor(a, b)");

bool takes_scaled(const at::Tensor& self, const at::Tensor& other,
                  const c10::Scalar&, const at::Tensor& out) {
  return takes_promoted(self, other, out);
}

at::Tensor& add_or_sub(OpId plain, OpId scaled, const at::Tensor& self,
                       const at::Tensor& other, const c10::Scalar& alpha,
                       at::Tensor& out) {
  const auto compute = common_type(self, other);
  TORCH_CHECK(c10::isFloatingType(compute) || !alpha.isFloatingPoint(),
              "For integral input tensors, argument alpha must not be a "
              "floating point number.");
  const Input inputs[] = {operand(self, compute), operand(other, compute)};
  if (alpha.equal(1)) {
    run_pointwise(plain, compute, inputs, out);
  } else {
    run_pointwise(scaled, compute, inputs, out, {alpha});
  }
  return out;
}

at::Tensor& add_out(const at::Tensor& self, const at::Tensor& other,
                    const c10::Scalar& alpha, at::Tensor& out) {
  return add_or_sub(kAdd, kAddScaled, self, other, alpha, out);
}

at::Tensor& sub_out(const at::Tensor& self, const at::Tensor& other,
                    const c10::Scalar& alpha, at::Tensor& out) {
  TORCH_CHECK(
      self.scalar_type() != at::kBool || other.scalar_type() != at::kBool,
      "Subtraction, the `-` operator, with two bool tensors is not "
      "supported. Use the `^` or `logical_xor()` operator instead.");
  return add_or_sub(kSub, kSubScaled, self, other, alpha, out);
}

at::Tensor rsub(const at::Tensor& self, const at::Tensor& other,
                const c10::Scalar& alpha) {
  return at::sub(other, self, alpha);
}

at::Tensor rsub_scalar(const at::Tensor& self, const c10::Scalar& other,
                       const c10::Scalar& alpha) {
  return at::sub(at::native::wrapped_scalar_tensor(other), self, alpha);
}

bool takes_mode(const at::Tensor& self, const at::Tensor& other,
                std::optional<c10::string_view> mode, const at::Tensor& out) {
  return TakesPromoted{.to_float = !mode}(self, other, out);
}

at::Tensor& div_mode_out(const at::Tensor& self, const at::Tensor& other,
                         std::optional<c10::string_view> mode,
                         at::Tensor& out) {
  auto compute = common_type(self, other);
  if (!mode) compute = to_float_type(compute);
  TORCH_CHECK(!mode || *mode == "trunc" || *mode == "floor",
              "div expected rounding_mode to be one of None, 'trunc', or "
              "'floor' but found '",
              mode.value_or(""), "'");
  const Input inputs[] = {operand(self, compute), operand(other, compute)};
  run_pointwise(!mode              ? kIds[1]
                : *mode == "trunc" ? kDivTrunc
                                   : kDivFloor,
                compute, inputs, out);
  return out;
}

template <size_t... I>
void register_all(torch::Library& m, std::index_sequence<I...>) {
  const auto one = [&]<size_t J>() {
    constexpr const Row& row = kRows[J];
    constexpr TakesPromoted takes{.to_float = row.kind == Kind::Float};
    native<OperatorName(row.name, ".", row.tensor_overload), &tensor_out<J>,
           takes>(m);
    if constexpr (row.scalar_overload != nullptr) {
      native<OperatorName(row.name, ".", row.scalar_overload), &scalar_out<J>,
             takes>(m);
    }
  };
  (one.template operator()<I>(), ...);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  register_all(m, std::make_index_sequence<kCount>());
  native<"add.out", &add_out, &takes_scaled>(m);
  native<"sub.out", &sub_out, &takes_scaled>(m);
  m.impl("rsub.Tensor", &rsub);
  m.impl("rsub.Scalar", &rsub_scalar);
  native<"div.out_mode", &div_mode_out, &takes_mode>(m);
}

}  // namespace torch_webgpu::ops
