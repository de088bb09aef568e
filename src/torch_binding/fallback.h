#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace torch_webgpu::binding {

// What happens when an operator has no kernel of ours.
enum class FallbackPolicy { Warn, Error, Silent };

FallbackPolicy parse_fallback_policy(const std::string& name);
void set_fallback_policy(FallbackPolicy policy);

// Counts one run of `name` on the CPU, warns once per name, or raises
// NotImplementedError, as the policy says. For the boxed fallback and for
// operators that have to call the CPU by another name.
void note_fallback(const std::string& name);

// Operator name with overload → runs on the CPU since the last reset.
std::map<std::string, uint64_t> fallback_counts();
void reset_fallback_counts();

} // namespace torch_webgpu::binding
