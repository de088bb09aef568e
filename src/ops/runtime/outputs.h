#pragma once

#include <ATen/core/Tensor.h>

// What a call may do to its outputs.
namespace torch_webgpu::ops {

// While it lives, this thread does not resize `out`: an output that is an input
// too (an operator in place, or out= of an operand) would change under the
// reader, and reach outside of the view that it is. Null for none.
class KeepsSize {
 public:
  explicit KeepsSize(const c10::TensorImpl* out);
  ~KeepsSize();
  KeepsSize(const KeepsSize&) = delete;
  KeepsSize& operator=(const KeepsSize&) = delete;

 private:
  const c10::TensorImpl* before_;
};

// The one way to give an output its size.
void resize_out(const at::Tensor& out, at::IntArrayRef shape);

}  // namespace torch_webgpu::ops
