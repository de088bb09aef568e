// pow: the exponents that have a cheaper and exact form take it, as on the CPU.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "ops/pointwise/promote.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::DType;

constexpr DType kNumeric[] = {DType::F32, DType::F16, DType::BF16,
                              DType::I64, DType::I32, DType::I16,
                              DType::I8,  DType::U8,  DType::Bool};

OpId register_power(const char* name, uint8_t inputs, const char* expression,
                    bool floats_only = false) {
  std::vector<DType> dtypes(std::begin(kNumeric), std::end(kNumeric));
  if (floats_only) dtypes.resize(std::size(wgsl::kFloats));
  return register_pointwise({.name = name,
                             .inputs = inputs,
                             .expression = expression,
                             .dtypes = std::move(dtypes)});
}

const OpId kPow = register_power("pow", 2, "t_pow(a, b)");
const OpId kSquare = register_power("pow_2", 1, "t_mul(a, a)");
const OpId kCube = register_power("pow_3", 1, "t_mul(t_mul(a, a), a)");
const OpId kSqrt = register_power("pow_half", 1, "m_sqrt(a)", true);
const OpId kRsqrt = register_power("pow_minus_half", 1, "m_rsqrt(a)", true);
const OpId kInverse = register_power("pow_minus_1", 1, "t_div(1.0, a)", true);
const OpId kInverseSquare =
    register_power("pow_minus_2", 1, "t_div(1.0, a * a)", true);

void check_integer_power(c10::ScalarType compute, const c10::Scalar& exponent) {
  TORCH_CHECK(c10::isFloatingType(compute) || !exponent.isIntegral(true) ||
                  exponent.toLong() >= 0,
              "Integers to negative integer powers are not allowed.");
}

std::optional<OpId> cheap_power(double exponent, bool floating) {
  if (exponent == 2) return kSquare;
  if (exponent == 3) return kCube;
  if (!floating) return std::nullopt;
  if (exponent == 0.5) return kSqrt;
  if (exponent == -0.5) return kRsqrt;
  if (exponent == -1) return kInverse;
  if (exponent == -2) return kInverseSquare;
  return std::nullopt;
}

at::Tensor& pow_scalar_out(const at::Tensor& self, const c10::Scalar& exponent,
                           at::Tensor& out) {
  const auto compute = common_type(self, exponent);
  check_integer_power(compute, exponent);
  if (exponent.equal(0.0) || exponent.equal(false)) {
    prepare_out(out, self.sizes(), compute);
    out.fill_(1);
    return out;
  }
  const Input base = operand(self, compute);
  const auto cheap =
      cheap_power(exponent.toDouble(), c10::isFloatingType(compute));
  if (cheap) {
    run_pointwise(*cheap, compute, {&base, 1}, out);
    return out;
  }
  const Input inputs[] = {base, exponent};
  run_pointwise(kPow, compute, inputs, out);
  return out;
}

at::Tensor& pow_tensor_out(const at::Tensor& self, const at::Tensor& exponent,
                           at::Tensor& out) {
  const auto compute = common_type(self, exponent);
  const Input inputs[] = {operand(self, compute), operand(exponent, compute)};
  run_pointwise(kPow, compute, inputs, out);
  return out;
}

bool takes_base(const c10::Scalar& self, const at::Tensor& exponent,
                const at::Tensor& out) {
  return takes_promoted(exponent, self, out);
}

at::Tensor& pow_of_scalar_out(const c10::Scalar& self,
                              const at::Tensor& exponent, at::Tensor& out) {
  const auto compute = common_type(exponent, self);
  if (self.equal(1)) {
    prepare_out(out, exponent.sizes(), compute);
    out.fill_(1);
    return out;
  }
  const Input inputs[] = {self, operand(exponent, compute)};
  run_pointwise(kPow, compute, inputs, out);
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"pow.Tensor_Scalar_out", &pow_scalar_out, takes_promoted>(m);
  native<"pow.Tensor_Tensor_out", &pow_tensor_out, takes_promoted>(m);
  native<"pow.Scalar_out", &pow_of_scalar_out, &takes_base>(m);
}

}  // namespace torch_webgpu::ops
