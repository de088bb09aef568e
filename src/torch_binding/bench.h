#pragma once

#include <ATen/core/Tensor.h>

namespace torch_webgpu::binding {

// CPU seconds of the calling thread for `count` dispatches that add 64 floats,
// with one cached pipeline and bind group: the HAL's own cost, to which the
// benchmark compares an operator's.
double bench_bare_dispatch(unsigned count);

// Records one buffer copy between two whole storages, which is the fastest way
// to move bytes that WebGPU has.
void bench_buffer_copy(const at::Tensor& src, const at::Tensor& dst);

}  // namespace torch_webgpu::binding
