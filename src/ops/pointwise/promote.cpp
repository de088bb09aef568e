#include "ops/pointwise/promote.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/result_type.h>
#include <c10/core/DefaultDtype.h>

#include <algorithm>

#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {

c10::ScalarType to_float_type(c10::ScalarType type) {
  return c10::isIntegralType(type, /*includeBool=*/true)
             ? c10::get_default_dtype_as_scalartype()
             : type;
}

// Torch's function is an operator, and this runs twice in a call: in the test
// of its arguments and in the kernel. A number that torch made a tensor
// (wrapped) has a dtype that does not count.
c10::ScalarType common_type(const at::Tensor& a, const at::Tensor& b) {
  const bool same = a.scalar_type() == b.scalar_type() &&
                    !a.unsafeGetTensorImpl()->is_wrapped_number() &&
                    !b.unsafeGetTensorImpl()->is_wrapped_number();
  return same ? a.scalar_type() : at::result_type(a, b);
}

c10::ScalarType common_type(const at::Tensor& a, const c10::Scalar& b) {
  const bool dominates = a.is_floating_point() && !b.isComplex() &&
                         !a.unsafeGetTensorImpl()->is_wrapped_number();
  return dominates ? a.scalar_type() : at::result_type(a, b);
}

bool have_dtypes(std::initializer_list<c10::ScalarType> types) {
  return std::ranges::all_of(types, wgsl::has_dtype);
}

c10::ScalarType read_type(const at::Tensor& tensor, c10::ScalarType compute) {
  return tensor.dim() == 0 && tensor.device().is_cpu() ? compute
                                                       : tensor.scalar_type();
}

bool TakesPromoted::operator()(const at::Tensor& a, const at::Tensor& b) const {
  auto compute = common_type(a, b);
  if (to_float) compute = to_float_type(compute);
  return have_dtypes({read_type(a, compute), read_type(b, compute), compute});
}

bool TakesPromoted::operator()(const at::Tensor& a, const at::Tensor& b,
                               const at::Tensor& out) const {
  return (*this)(a, b) && wgsl::has_dtype(out.scalar_type());
}

bool TakesPromoted::operator()(const at::Tensor& a, const c10::Scalar& b,
                               const at::Tensor& out) const {
  auto compute = common_type(a, b);
  if (to_float) compute = to_float_type(compute);
  return have_dtypes({read_type(a, compute), compute, out.scalar_type()});
}

Input operand(const at::Tensor& tensor, c10::ScalarType compute) {
  if (tensor.device().is_privateuseone()) {
    return tensor.scalar_type() == compute ? tensor : tensor.to(compute);
  }
  TORCH_CHECK(tensor.dim() == 0 && tensor.device().is_cpu(),
              "Expected all tensors to be on the same device, but found at "
              "least two devices, webgpu:0 and ",
              tensor.device(), "! Move the tensor with .to('webgpu').");
  return tensor.item();
}

void prepare_out(const at::Tensor& out, at::IntArrayRef shape,
                 c10::ScalarType result) {
  TORCH_CHECK(c10::canCast(result, out.scalar_type()), "result type ",
              c10::toString(result),
              " can't be cast to the desired output type ",
              c10::toString(out.scalar_type()));
  resize_out(out, shape);
}

void run_pointwise(OpId op, c10::ScalarType compute,
                   std::span<const Input> inputs, const at::Tensor& out,
                   std::initializer_list<c10::Scalar> scalars) {
  const bool predicate = pointwise_op(op).result == Result::Predicate;
  const c10::ScalarType result = predicate ? at::kBool : compute;
  bool shaped = true;
  for (const Input& input : inputs) {
    shaped &= input.is_scalar() || input.tensor.sizes() == out.sizes();
  }
  if (shaped && out.scalar_type() == result) {
    pointwise(op, wgsl::dtype_of(compute), inputs, out, scalars);
    return;
  }
  at::DimVector shape;
  for (const Input& input : inputs) {
    if (!input.is_scalar()) {
      shape = at::infer_size_dimvector(shape, input.tensor.sizes());
    }
  }
  prepare_out(out, shape, result);
  if (out.scalar_type() == result) {
    pointwise(op, wgsl::dtype_of(compute), inputs, out, scalars);
    return;
  }
  const at::Tensor computed = at::empty(shape, out.options().dtype(result));
  pointwise(op, wgsl::dtype_of(compute), inputs, computed, scalars);
  out.copy_(computed);
}

void run_pointwise(OpId op, std::span<const at::Tensor> tensors,
                   const at::Tensor& out,
                   std::initializer_list<c10::Scalar> scalars) {
  auto compute = tensors[0].scalar_type();
  for (const at::Tensor& tensor : tensors.subspan(1))
    compute = c10::promoteTypes(compute, tensor.scalar_type());
  c10::SmallVector<Input, 3> inputs;
  for (const at::Tensor& tensor : tensors)
    inputs.push_back(operand(tensor, compute));
  run_pointwise(op, compute, inputs, out, scalars);
}

}  // namespace torch_webgpu::ops
