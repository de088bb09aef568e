#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/util/SmallVector.h>

#include <array>
#include <cstdint>
#include <span>

// How an operation over elements is laid out over its operands' memory, and
// how one that a single launch cannot do is divided.
namespace torch_webgpu::ops {

// A tensor of the device or a number.
struct Input {
  Input(const at::Tensor& t) : tensor(t) {}  // NOLINT: an argument's two forms
  Input(const c10::Scalar& s) : scalar(s) {}
  at::Tensor tensor;
  c10::Scalar scalar;
  bool is_scalar() const { return !tensor.defined(); }
};

// Sizes and strides of up to eight dimensions, innermost first, dimensions
// that are one in memory merged; the first of `tensors` gives the order.
struct Geometry {
  int rank = 0;
  std::array<int64_t, 8> sizes{};
  std::array<std::array<int64_t, 8>, 4> strides{};  // by tensor
};
// `tensors` have the same sizes (expanded); false when more than eight
// dimensions remain.
bool make_geometry(std::span<const at::Tensor> tensors, Geometry&);

// The dimension along which the view reaches farthest in memory: halving it is
// what makes a view above the binding limit smaller.
int64_t widest_dim(const at::Tensor& view);
// The outermost dimension of more than one element: halving it is what ends in
// fewer dimensions.
int64_t first_dim(const at::Tensor& view);

// One half of an operation: the output's, and the inputs' (expanded) for it.
// The halves run one after the other, so no input may share memory with the
// output, unless it is the very same view.
struct Half {
  c10::SmallVector<Input, 3> inputs;
  at::Tensor out;
};
std::array<Half, 2> halves(std::span<const Input> inputs, const at::Tensor& out,
                           int64_t dim);

}  // namespace torch_webgpu::ops
