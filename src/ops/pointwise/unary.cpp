// Pointwise operators of one tensor, a row each.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <utility>

#include "ops/pointwise/promote.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::DType;

enum class Kind : uint8_t {
  Float,           // integers are converted to the default float type
  Numeric,         // each dtype computes in itself
  Rounding,        // the same, and integers are their own result
  Integer,         // integers; bool takes the row before
  Predicate,       // any dtype, bool results
  FloatPredicate,  // floating point only
};

struct Row {
  const char* name;  // of aten's operator
  Kind kind;
  const char* expression;
};

constexpr Row kRows[] = {
    {"abs", Kind::Numeric, "t_abs(a)"},
    {"neg", Kind::Numeric, "t_neg(a)"},
    {"sign", Kind::Numeric, "t_sign(a)"},
    {"sgn", Kind::Numeric, "t_sign(a)"},
    {"exp", Kind::Float, "m_exp(a)"},
    {"exp2", Kind::Float, "m_exp2(a)"},
    {"expm1", Kind::Float, "m_expm1(a)"},
    {"log", Kind::Float, "m_log(a)"},
    {"log2", Kind::Float, "m_log2(a)"},
    {"log10", Kind::Float, "m_log10(a)"},
    {"log1p", Kind::Float, "m_log1p(a)"},
    {"sin", Kind::Float, "m_sin(a)"},
    {"cos", Kind::Float, "m_cos(a)"},
    {"tan", Kind::Float, "m_tan(a)"},
    {"asin", Kind::Float, "m_asin(a)"},
    {"acos", Kind::Float, "m_acos(a)"},
    {"atan", Kind::Float, "m_atan(a)"},
    {"sinh", Kind::Float, "m_sinh(a)"},
    {"cosh", Kind::Float, "m_cosh(a)"},
    {"tanh", Kind::Float, "m_tanh(a)"},
    {"asinh", Kind::Float, "m_asinh(a)"},
    {"acosh", Kind::Float, "m_acosh(a)"},
    {"atanh", Kind::Float, "m_atanh(a)"},
    {"sigmoid", Kind::Float, "m_sigmoid(a)"},
    {"erf", Kind::Float, "m_erf(a)"},
    {"erfc", Kind::Float, "m_erfc(a)"},
    {"erfinv", Kind::Float, "m_erfinv(a)"},
    {"lgamma", Kind::Float, "m_lgamma(a)"},
    {"digamma", Kind::Float, "m_digamma(a)"},
    {"sqrt", Kind::Float, "m_sqrt(a)"},
    {"rsqrt", Kind::Float, "m_rsqrt(a)"},
    {"reciprocal", Kind::Float, "t_div(1.0, a)"},
    {"floor", Kind::Rounding, "floor(a)"},
    {"ceil", Kind::Rounding, "ceil(a)"},
    {"round", Kind::Rounding, "m_round_even(a)"},
    {"trunc", Kind::Rounding, "trunc(a)"},
    {"frac", Kind::Rounding, "a - trunc(a)"},
    {"logical_not", Kind::Predicate, "t_is_zero(a)"},
    {"bitwise_not", Kind::Integer, "t_not(a)"},
    {"signbit", Kind::Predicate, "t_lt(a, t_zero())"},
    {"isposinf", Kind::FloatPredicate, "is_inf(a) && !signbit_f32(a)"},
    {"isneginf", Kind::FloatPredicate, "is_inf(a) && signbit_f32(a)"},
};
constexpr size_t kCount = std::size(kRows);

std::vector<DType> dtypes_of(Kind kind) {
  std::vector<DType> all(std::begin(wgsl::kFloats), std::end(wgsl::kFloats));
  if (kind == Kind::Integer) all.clear();
  if (kind == Kind::Numeric || kind == Kind::Integer ||
      kind == Kind::Predicate) {
    all.insert(all.end(), std::begin(wgsl::kInts), std::end(wgsl::kInts));
    if (kind != Kind::Integer) all.push_back(DType::Bool);
  }
  return all;
}

OpId register_row(const Row& row) {
  const bool predicate =
      row.kind == Kind::Predicate || row.kind == Kind::FloatPredicate;
  return register_pointwise(
      {.name = row.name,
       .inputs = 1,
       .expression = row.expression,
       .dtypes = dtypes_of(row.kind),
       .result = predicate ? Result::Predicate : Result::Value});
}

const auto kIds = [] {
  std::array<OpId, kCount> ids;
  for (size_t i = 0; i < kCount; ++i)
    ids[i] = register_row(kRows[i]);
  return ids;
}();

c10::ScalarType compute_type(Kind kind, const at::Tensor& self) {
  return kind == Kind::Float ? to_float_type(self.scalar_type())
                             : self.scalar_type();
}

void unary(size_t index, const at::Tensor& self, at::Tensor& out) {
  const Row& row = kRows[index];
  const bool integral = c10::isIntegralType(self.scalar_type(), true);
  const auto compute = compute_type(row.kind, self);
  if (row.kind == Kind::Rounding && integral) {
    prepare_out(out, self.sizes(), compute);
    out.copy_(self);
    return;
  }
  if (row.kind == Kind::FloatPredicate && integral) {
    prepare_out(out, self.sizes(), at::kBool);
    out.zero_();
    return;
  }
  const Input input = operand(self, compute);
  const bool logical = row.kind == Kind::Integer && compute == at::kBool;
  run_pointwise(kIds[logical ? index - 1 : index], compute, {&input, 1}, out);
}

template <Kind kind>
bool takes(const at::Tensor& self, const at::Tensor& out) {
  return have_dtypes(
      {self.scalar_type(), compute_type(kind, self), out.scalar_type()});
}

template <size_t I>
at::Tensor& unary_out(const at::Tensor& self, at::Tensor& out) {
  unary(I, self, out);
  return out;
}

const OpId kIsNan = register_pointwise(
    {.name = "isnan",
     .inputs = 1,
     .expression = "is_nan(a)",
     .dtypes = {std::begin(wgsl::kFloats), std::end(wgsl::kFloats)},
     .result = Result::Predicate});

at::Tensor isnan(const at::Tensor& self) {
  at::Tensor out = at::empty_like(self, self.options().dtype(at::kBool));
  if (!self.is_floating_point()) return out.zero_();
  const Input input(self);
  run_pointwise(kIsNan, self.scalar_type(), {&input, 1}, out);
  return out;
}

template <size_t... I>
void register_all(torch::Library& m, std::index_sequence<I...>) {
  (native<OperatorName(kRows[I].name, ".out"), &unary_out<I>,
          &takes<kRows[I].kind>>(m),
   ...);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  register_all(m, std::make_index_sequence<kCount>());
  native<"isnan", &isnan, takes_native>(m);
}

}  // namespace torch_webgpu::ops
