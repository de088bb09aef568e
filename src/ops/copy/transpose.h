#pragma once

#include <ATen/core/Tensor.h>

namespace torch_webgpu::ops {

// Copies between tensors of one dtype and the same sizes, in different buffers,
// whose innermost dimensions differ, by quads. False when the layouts do not
// allow it, and nothing was done.
bool transpose_copy(const at::Tensor& from, const at::Tensor& to);

}  // namespace torch_webgpu::ops
