#pragma once

#include <ATen/core/stack.h>

#include <cstdint>
#include <map>
#include <string>

namespace c10 {
class OperatorHandle;
}

namespace torch_webgpu::ops {

// Runs an operator on the CPU by way of the host: warned once per operator,
// counted in torch.webgpu.fallback_counts(), refused under
// TORCH_WEBGPU_FALLBACK=error. Registered as the boxed fallback of the device.
// Random operators continue the device's generator.
void cpu_fallback(const c10::OperatorHandle&, torch::jit::Stack*);

// The same from inside a native operator, for the arguments (mostly dtypes)
// that its kernel does not take: cpu_call("aten::exp", "out", {self, out}).
// Arguments in schema order; returns the results.
torch::jit::Stack cpu_call(const char* name, const char* overload,
                           torch::jit::Stack arguments);

// Only the warning, the count and the policy, for an operator that has to call
// the CPU by another name.
void note_fallback(const std::string& name);

enum class FallbackPolicy { Warn, Error, Silent };
FallbackPolicy parse_fallback_policy(const std::string& name);
void set_fallback_policy(FallbackPolicy policy);

// Operator name with overload → runs on the CPU since the last reset.
std::map<std::string, uint64_t> fallback_counts();
void reset_fallback_counts();

}  // namespace torch_webgpu::ops
