#pragma once

#include <ATen/core/Tensor.h>

struct _object;

// The only doors to torch_python, in one file because its headers are heavy.
namespace torch_webgpu::binding {

// The tensor inside a Python object; throws TypeError for anything else.
at::Tensor unpack_tensor(_object* object);

// A new reference to the torch.Generator of the device's default generator.
_object* wrap_default_generator();

}  // namespace torch_webgpu::binding
