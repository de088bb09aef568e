#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ops/kernel/dtype.h"
#include "ops/kernel/geometry.h"
#include "ops/kernel/params.h"

// The pointwise family: an operator is one WGSL expression; only this file's
// code knows dense, strided, broadcast, in-place and large variants.
namespace torch_webgpu::ops {

enum class Result : uint8_t {
  Value,      // the expression has type T and the output the inputs' dtype
  Predicate,  // the expression is a WGSL bool, the output is a bool tensor
};

// A row of an operator table. The expression sees the inputs as a, b, c (of
// type T: see wgsl/lib/t_*.wgsl) and the scalars as s0, s1, … (of type T).
struct PointwiseOp {
  const char* name;
  uint8_t inputs;
  const char* expression;
  std::vector<wgsl::DType> dtypes;
  Result result = Result::Value;
  uint8_t scalars = 0;
  int8_t mask = -1;    // the input that is a bool tensor whatever T is
  bool casts = false;  // copy: the input may have any dtype
};

using OpId = uint16_t;
// At load time only; the id is stable within the process.
OpId register_pointwise(PointwiseOp);
// The same for a row of floating-point dtypes.
OpId register_floats(const char* name, uint8_t inputs, uint8_t scalars,
                     const char* expression);
const PointwiseOp& pointwise_op(OpId);
bool pointwise_has(OpId);  // ids count from 0

// Runs `op` over inputs that broadcast to out's shape. Inputs have the dtype
// `compute` (scalars are converted to it), out has the result's dtype and its
// final shape; out may be any of the inputs.
void pointwise(OpId op, wgsl::DType compute, std::span<const Input> inputs,
               const at::Tensor& out,
               std::initializer_list<c10::Scalar> scalars = {});

// The same for an output of any strides, where a kernel can write it in chunks;
// false when none can, and nothing was done.
bool pointwise_in_chunks(OpId op, wgsl::DType compute,
                         std::span<const Input> inputs, const at::Tensor& out,
                         std::initializer_list<c10::Scalar> scalars = {});

// out[...] = input[...] for tensors of kernel dtypes on the device: casts,
// strides and broadcasting of the input, any strides of the output.
void copy_elements(const Input& input, const at::Tensor& out);

// A scalar as the two words of a parameter, for loads of `dtype`.
wgsl::params::u64 encode(const c10::Scalar&, wgsl::DType dtype);

}  // namespace torch_webgpu::ops
