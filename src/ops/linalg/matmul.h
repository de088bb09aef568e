#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

namespace torch_webgpu::ops {

// What becomes of each element of the result before it is stored.
enum class Activation : uint8_t { None, Relu, Gelu };

// out = activation(beta * bias + alpha * (a @ b)), for tensors [batch, rows,
// columns] of one kernel dtype (not bool; with an activation, floats) and any
// strides; `bias` has out's sizes, or is undefined. `out` may be the bias, or
// share memory with any of them. A beta of 0 ignores the bias, even its NaN.
void batched_matmul(const at::Tensor& a, const at::Tensor& b,
                    const at::Tensor& bias, const at::Tensor& out,
                    const c10::Scalar& beta, const c10::Scalar& alpha,
                    Activation activation = Activation::None);

}  // namespace torch_webgpu::ops
