#pragma once

namespace torch_webgpu::binding {

// CPU seconds of the calling thread for `count` dispatches that add 64 floats,
// with one cached pipeline and bind group: the HAL's own cost, to which the
// benchmark compares an operator's.
double bench_bare_dispatch(unsigned count);

}  // namespace torch_webgpu::binding
