#pragma once

#include <ATen/core/stack.h>

namespace c10 {
class OperatorHandle;
}

namespace torch_webgpu::ops {

// Runs an operator on the CPU by way of the host: warned once per operator,
// counted in torch.webgpu.fallback_counts(), refused under
// TORCH_WEBGPU_FALLBACK=error. Registered as the boxed fallback of the device.
void cpu_fallback(const c10::OperatorHandle&, torch::jit::Stack*);

// The same from inside a native operator, for the arguments (mostly dtypes)
// that its kernel does not take: cpu_call("aten::exp", "out", {self, out}).
// Arguments in schema order; returns the results.
torch::jit::Stack cpu_call(const char* name, const char* overload,
                           torch::jit::Stack arguments);

}  // namespace torch_webgpu::ops
