#include "ops/runtime/native.h"

#include <string>

#include "ops/kernel/dtype.h"
#include "ops/runtime/fallback.h"

namespace torch_webgpu::ops {

bool is_native(const at::TensorBase& tensor) {
  return wgsl::has_dtype(tensor.scalar_type());
}

bool is_native_float(const at::TensorBase& tensor) {
  return is_native(tensor) && at::isFloatingType(tensor.scalar_type());
}

bool is_native_number(const at::TensorBase& tensor) {
  return is_native(tensor) && tensor.scalar_type() != at::kBool;
}

c10::OperatorHandle find_operator(const OperatorName& name) {
  const std::string text = name.text;
  const size_t dot = text.find('.');
  const std::string overload =
      dot == std::string::npos ? "" : text.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchemaOrThrow(
      ("aten::" + text.substr(0, dot)).c_str(), overload.c_str());
}

const c10::KernelFunction& cpu_kernel() {
  static const auto kernel =
      c10::KernelFunction::makeFromBoxedFunction<&cpu_fallback>();
  return kernel;
}

}  // namespace torch_webgpu::ops
