#pragma once

#include <nanobind/nanobind.h>

namespace torch_webgpu::binding {

// _C.GeneratedKernel: ops::GeneratedKernel for torch_webgpu._generated.
void bind_generated_kernels(nanobind::module_& m);

}  // namespace torch_webgpu::binding
