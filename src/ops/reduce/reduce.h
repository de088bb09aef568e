#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>

#include <bitset>

// The reduction family: any set of dimensions of a strided tensor to one or
// two values per output.
namespace torch_webgpu::ops {

// The rows of the table in reduce.cpp.
enum class Reduction : uint8_t {
  Sum,
  Mean,
  Prod,
  NanSum,
  Max,
  Min,
  Any,
  All,
  CountNonzero,
  Norm0,
  Norm1,
  Norm2,
  NormMax,
  NormMin,
  NormP,
  LogSumExp,
  ArgMax,
  ArgMin,
  MaxIndex,  // the value and its index
  MinIndex,
  MinMax,
  Var,
  Std,
  VarMean,
  StdMean,
};

using DimMask = std::bitset<64>;

// None and, unless `empty_is_none`, the empty list stand for all dimensions.
DimMask reduced_dims(const at::TensorBase& self, at::OptionalIntArrayRef dims,
                     bool empty_is_none = false);

at::DimVector reduced_shape(const at::TensorBase& self, DimMask dims,
                            bool keepdim);
// Product of the sizes of `dims`.
int64_t reduced_count(const at::TensorBase& self, DimMask dims);

// Raises unless `out` has this dtype.
void check_result_dtype(const at::Tensor& out, at::ScalarType expected);

struct ReduceNumbers {
  double divisor = 1;  // Mean: the count; Var…: the count less the correction
  double order = 1;    // NormP
};

// Reduces `dims` of `self` into `out` (and `second`, for the operators that
// have two results), which have the result's shape, any strides and a dtype
// that the operator can make: sums and products take every one, as if `self`
// had been cast to it first; the others make the dtype that torch gives them.
// All dtypes involved have kernels.
void reduce(Reduction, const at::Tensor& self, DimMask dims,
            const at::Tensor& out, const at::Tensor& second = {},
            ReduceNumbers = {});

}  // namespace torch_webgpu::ops
