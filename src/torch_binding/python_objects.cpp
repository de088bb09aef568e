#include "torch_binding/python_objects.h"

#include <torch/csrc/Generator.h>
#include <torch/csrc/autograd/python_variable.h>

#include "ops/random/generator.h"

namespace torch_webgpu::binding {

at::Tensor unpack_tensor(_object* object) {
  TORCH_CHECK_TYPE(THPVariable_Check(object), "webgpu: expected a tensor, got ",
                   Py_TYPE(object)->tp_name);
  return THPVariable_Unpack(object);
}

_object* wrap_default_generator() {
  return THPGenerator_Wrap(ops::default_generator());
}

}  // namespace torch_webgpu::binding
