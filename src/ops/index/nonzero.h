#pragma once

#include <ATen/core/Tensor.h>

namespace torch_webgpu::ops {

// The offsets, in elements of the contiguous tensor, of those that are not
// zero: an int32 tensor of one dimension. Waits for the device, because their
// number is a size. `t` has a kernel dtype.
at::Tensor nonzero_offsets(const at::Tensor& t);

}  // namespace torch_webgpu::ops
