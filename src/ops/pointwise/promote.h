#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <span>

#include "ops/pointwise/pointwise.h"

// What stands between an operator's arguments and the pointwise family: type
// promotion, CPU scalars, broadcasting, out= of another shape or dtype.
namespace torch_webgpu::ops {

// The dtype that an operator with floating-point results computes in.
c10::ScalarType to_float_type(c10::ScalarType);

// The dtype to which tensors, or a tensor and a number, are promoted.
c10::ScalarType common_type(const at::Tensor&, const at::Tensor&);
c10::ScalarType common_type(const at::Tensor&, const c10::Scalar&);

// True when the kernels have every one of the dtypes.
bool have_dtypes(std::initializer_list<c10::ScalarType>);

// The dtype that a kernel has to read for a tensor: a 0-dimensional CPU tensor
// arrives as a number of dtype `compute`, whatever its own.
c10::ScalarType read_type(const at::Tensor&, c10::ScalarType compute);

// The test (see native.h) of operators whose two operands are promoted: the
// kernels have the dtypes that they read, compute in and write.
struct TakesPromoted {
  bool to_float = false;  // the operator computes in a floating-point dtype

  bool operator()(const at::Tensor& a, const at::Tensor& b) const;
  bool operator()(const at::Tensor& a, const at::Tensor& b,
                  const at::Tensor& out) const;
  bool operator()(const at::Tensor& a, const c10::Scalar& b,
                  const at::Tensor& out) const;
};
inline constexpr TakesPromoted takes_promoted;

// A tensor as an input of dtype `compute`: a 0-dimensional CPU tensor becomes
// a number, another dtype is cast. Other devices are the user's error.
Input operand(const at::Tensor&, c10::ScalarType compute);

// Gives out the shape and checks that it can hold `result`.
void prepare_out(const at::Tensor& out, at::IntArrayRef shape,
                 c10::ScalarType result);

// Runs `op` in dtype `compute` over inputs that have it (see operand()),
// resizing out to their common shape and converting to its dtype.
void run_pointwise(OpId op, c10::ScalarType compute,
                   std::span<const Input> inputs, const at::Tensor& out,
                   std::initializer_list<c10::Scalar> scalars = {});

// The same for tensors that are promoted among each other.
void run_pointwise(OpId op, std::span<const at::Tensor> tensors,
                   const at::Tensor& out,
                   std::initializer_list<c10::Scalar> scalars = {});

}  // namespace torch_webgpu::ops
