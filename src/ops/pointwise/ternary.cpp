// where, masked_fill, lerp, addcmul, addcdiv, clamp with tensors.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/pointwise/promote.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using c10::Scalar;
using wgsl::DType;

std::vector<DType> all_dtypes() {
  return {std::begin(wgsl::kAllDTypes), std::end(wgsl::kAllDTypes)};
}
std::vector<DType> floats() {
  return {std::begin(wgsl::kFloats), std::end(wgsl::kFloats)};
}
std::vector<DType> numbers() {
  return {std::begin(wgsl::kNumbers), std::end(wgsl::kNumbers)};
}

const OpId kWhere = register_pointwise({.name = "where",
                                        .inputs = 3,
                                        .expression = "t_select(c, b, a != 0u)",
                                        .dtypes = all_dtypes(),
                                        .mask = 0});
const OpId kMaskedFill =
    register_pointwise({.name = "masked_fill",
                        .inputs = 3,
                        .expression = "t_select(a, c, b != 0u)",
                        .dtypes = all_dtypes(),
                        .mask = 1});
const OpId kLerp = register_pointwise(
    {.name = "lerp",
     .inputs = 3,
     .expression =
         "select(b - (b - a) * (1.0 - c), a + c * (b - a), abs(c) < 0.5)",
     .dtypes = floats()});
const OpId kAddcmul =
    register_pointwise({.name = "addcmul",
                        .inputs = 3,
                        .expression = "t_add(a, t_mul(t_mul(s0, b), c))",
                        .dtypes = numbers(),
                        .scalars = 1});
const OpId kAddcdiv = register_pointwise({.name = "addcdiv",
                                          .inputs = 3,
                                          .expression = "a + t_div(s0 * b, c)",
                                          .dtypes = floats(),
                                          .scalars = 1});
const OpId kClamp = register_pointwise({.name = "clamp",
                                        .inputs = 3,
                                        .expression = "t_min(t_max(a, b), c)",
                                        .dtypes = numbers()});
const OpId kClampMin = register_pointwise({.name = "clamp_min",
                                           .inputs = 2,
                                           .expression = "t_max(a, b)",
                                           .dtypes = numbers()});
const OpId kClampMax = register_pointwise({.name = "clamp_max",
                                           .inputs = 2,
                                           .expression = "t_min(a, b)",
                                           .dtypes = numbers()});

at::Tensor as_mask(const at::Tensor& mask) {
  at::Tensor moved = mask.device().is_privateuseone()
                         ? mask
                         : mask.to(c10::Device(c10::kPrivateUse1, 0));
  return moved.scalar_type() == at::kBool ? moved : moved.to(at::kBool);
}

bool takes_where_out(const at::Tensor&, const at::Tensor& self,
                     const at::Tensor& other, const at::Tensor& out) {
  return takes_promoted(self, other, out);
}

at::Tensor& where_out(const at::Tensor& condition, const at::Tensor& self,
                      const at::Tensor& other, at::Tensor& out) {
  const auto compute = common_type(self, other);
  TORCH_CHECK(condition.scalar_type() == at::kBool ||
                  condition.scalar_type() == at::kByte,
              "where expected condition to be a boolean tensor, but got a "
              "tensor with dtype ",
              c10::toString(condition.scalar_type()));
  const Input inputs[] = {as_mask(condition), operand(self, compute),
                          operand(other, compute)};
  run_pointwise(kWhere, compute, inputs, out);
  return out;
}

bool takes_where(const at::Tensor&, const at::Tensor& self,
                 const at::Tensor& other) {
  return takes_promoted(self, other);
}

at::Tensor where(const at::Tensor& condition, const at::Tensor& self,
                 const at::Tensor& other) {
  const auto compute = common_type(self, other);
  at::Tensor out = at::empty({0}, at::TensorOptions().dtype(compute).device(
                                      c10::Device(c10::kPrivateUse1, 0)));
  where_out(condition, self, other, out);
  return out;
}

at::Tensor& fill_masked(at::Tensor& self, const at::Tensor& mask,
                        const Input& value) {
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "masked_fill_ only supports boolean masks, but got mask with "
              "dtype ",
              c10::toString(mask.scalar_type()));
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(at::is_expandable_to(mask.sizes(), self.sizes()),
              "output with shape ", self.sizes(),
              " doesn't match the broadcast shape of the mask ", mask.sizes());
  const Input inputs[] = {self, as_mask(mask), value};
  pointwise(kMaskedFill, wgsl::dtype_of(self.scalar_type()), inputs, self);
  return self;
}

at::Tensor& masked_fill_scalar(at::Tensor& self, const at::Tensor& mask,
                               const c10::Scalar& value) {
  return fill_masked(self, mask, value);
}

bool takes_value(const at::Tensor& self, const at::Tensor&,
                 const at::Tensor& value) {
  return have_dtypes(
      {self.scalar_type(), read_type(value, self.scalar_type())});
}

at::Tensor& masked_fill_tensor(at::Tensor& self, const at::Tensor& mask,
                               const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0,
              "masked_fill_ only supports a 0-dimensional value tensor, but "
              "got tensor with ",
              value.dim(), " dimension(s).");
  return fill_masked(self, mask, operand(value, self.scalar_type()));
}

bool takes_lerp_scalar(const at::Tensor& self, const at::Tensor& end,
                       const c10::Scalar&, const at::Tensor& out) {
  const auto compute = self.scalar_type();
  return have_dtypes({compute, read_type(end, compute), out.scalar_type()});
}

at::Tensor& lerp_scalar_out(const at::Tensor& self, const at::Tensor& end,
                            const c10::Scalar& weight, at::Tensor& out) {
  const auto compute = self.scalar_type();
  const Input inputs[] = {operand(self, compute), operand(end, compute),
                          weight};
  run_pointwise(kLerp, compute, inputs, out);
  return out;
}

bool takes_lerp_tensor(const at::Tensor& self, const at::Tensor& end,
                       const at::Tensor& weight, const at::Tensor& out) {
  const auto compute = self.scalar_type();
  return have_dtypes({compute, read_type(end, compute),
                      read_type(weight, compute), out.scalar_type()});
}

at::Tensor& lerp_tensor_out(const at::Tensor& self, const at::Tensor& end,
                            const at::Tensor& weight, at::Tensor& out) {
  const auto compute = self.scalar_type();
  const Input inputs[] = {operand(self, compute), operand(end, compute),
                          operand(weight, compute)};
  run_pointwise(kLerp, compute, inputs, out);
  return out;
}

c10::ScalarType sum_type(const at::Tensor& self, const at::Tensor& first,
                         const at::Tensor& second) {
  return c10::promoteTypes(
      common_type(self, first),
      second.dim() == 0 ? common_type(first, second) : second.scalar_type());
}

template <bool floats_only>
bool takes_product(const at::Tensor& self, const at::Tensor& first,
                   const at::Tensor& second, const c10::Scalar&,
                   const at::Tensor& out) {
  const auto compute = sum_type(self, first, second);
  return have_dtypes({read_type(self, compute), read_type(first, compute),
                      read_type(second, compute), compute,
                      out.scalar_type()}) &&
         (!floats_only || c10::isFloatingType(compute));
}

at::Tensor& add_product_out(OpId op, const at::Tensor& self,
                            const at::Tensor& first, const at::Tensor& second,
                            const c10::Scalar& value, at::Tensor& out) {
  const auto compute = sum_type(self, first, second);
  const Input inputs[] = {operand(self, compute), operand(first, compute),
                          operand(second, compute)};
  run_pointwise(op, compute, inputs, out, {value});
  return out;
}

at::Tensor& addcmul_out(const at::Tensor& self, const at::Tensor& first,
                        const at::Tensor& second, const c10::Scalar& value,
                        at::Tensor& out) {
  return add_product_out(kAddcmul, self, first, second, value, out);
}

at::Tensor& addcdiv_out(const at::Tensor& self, const at::Tensor& first,
                        const at::Tensor& second, const c10::Scalar& value,
                        at::Tensor& out) {
  return add_product_out(kAddcdiv, self, first, second, value, out);
}

// Both bounds, as tensors or numbers; `none` is an absent bound.
at::Tensor& clamp_to(const at::Tensor& self, c10::ScalarType compute,
                     const std::optional<Input>& low,
                     const std::optional<Input>& high, at::Tensor& out) {
  const Input value = operand(self, compute);
  if (low && high) {
    const Input inputs[] = {value, *low, *high};
    run_pointwise(kClamp, compute, inputs, out);
  } else {
    TORCH_CHECK(low || high,
                "torch.clamp: At least one of 'min' or 'max' must not be "
                "None");
    const Input inputs[] = {value, low ? *low : *high};
    run_pointwise(low ? kClampMin : kClampMax, compute, inputs, out);
  }
  return out;
}

// Of bounds that are tensors or numbers.
template <class Bound>
c10::ScalarType clamp_type(const at::Tensor& self,
                           const std::optional<Bound>& low,
                           const std::optional<Bound>& high) {
  auto compute = self.scalar_type();
  if (low) compute = common_type(self, *low);
  if (high) compute = c10::promoteTypes(compute, common_type(self, *high));
  return compute;
}

template <class Bound>
bool takes_clamp(const at::Tensor& self, const std::optional<Bound>& low,
                 const std::optional<Bound>& high, const at::Tensor& out) {
  const auto compute = clamp_type(self, low, high);
  return compute != at::kBool &&
         have_dtypes({compute, read_type(self, compute), out.scalar_type()});
}

template <class Bound>
bool takes_low(const at::Tensor& self, const Bound& low,
               const at::Tensor& out) {
  return takes_clamp<Bound>(self, low, std::nullopt, out);
}

template <class Bound>
bool takes_high(const at::Tensor& self, const Bound& high,
                const at::Tensor& out) {
  return takes_clamp<Bound>(self, std::nullopt, high, out);
}

at::Tensor& clamp_out(const at::Tensor& self,
                      const std::optional<c10::Scalar>& low,
                      const std::optional<c10::Scalar>& high, at::Tensor& out) {
  const auto compute = clamp_type(self, low, high);
  std::optional<Input> a, b;
  if (low) a.emplace(*low);
  if (high) b.emplace(*high);
  return clamp_to(self, compute, a, b, out);
}

at::Tensor& clamp_tensor_out(const at::Tensor& self,
                             const std::optional<at::Tensor>& low,
                             const std::optional<at::Tensor>& high,
                             at::Tensor& out) {
  const auto compute = clamp_type(self, low, high);
  std::optional<Input> a, b;
  if (low) a.emplace(operand(*low, compute));
  if (high) b.emplace(operand(*high, compute));
  return clamp_to(self, compute, a, b, out);
}

at::Tensor& clamp_min_out(const at::Tensor& self, const c10::Scalar& low,
                          at::Tensor& out) {
  return clamp_out(self, low, std::nullopt, out);
}
at::Tensor& clamp_max_out(const at::Tensor& self, const c10::Scalar& high,
                          at::Tensor& out) {
  return clamp_out(self, std::nullopt, high, out);
}
at::Tensor& clamp_min_tensor_out(const at::Tensor& self, const at::Tensor& low,
                                 at::Tensor& out) {
  return clamp_tensor_out(self, low, std::nullopt, out);
}
at::Tensor& clamp_max_tensor_out(const at::Tensor& self, const at::Tensor& high,
                                 at::Tensor& out) {
  return clamp_tensor_out(self, std::nullopt, high, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"where.self", &where, &takes_where>(m);
  native<"where.self_out", &where_out, &takes_where_out>(m);
  native<"masked_fill_.Scalar", &masked_fill_scalar, takes_native_at<0>>(m);
  native<"masked_fill_.Tensor", &masked_fill_tensor, &takes_value>(m);
  native<"lerp.Scalar_out", &lerp_scalar_out, &takes_lerp_scalar>(m);
  native<"lerp.Tensor_out", &lerp_tensor_out, &takes_lerp_tensor>(m);
  native<"addcmul.out", &addcmul_out, &takes_product<false>>(m);
  native<"addcdiv.out", &addcdiv_out, &takes_product<true>>(m);
  native<"clamp.out", &clamp_out, &takes_clamp<Scalar>>(m);
  native<"clamp.Tensor_out", &clamp_tensor_out, &takes_clamp<Tensor>>(m);
  native<"clamp_min.out", &clamp_min_out, &takes_low<Scalar>>(m);
  native<"clamp_max.out", &clamp_max_out, &takes_high<Scalar>>(m);
  native<"clamp_min.Tensor_out", &clamp_min_tensor_out, &takes_low<Tensor>>(m);
  native<"clamp_max.Tensor_out", &clamp_max_tensor_out, &takes_high<Tensor>>(m);
}

}  // namespace torch_webgpu::ops
