#pragma once

#include <string>

namespace torch_webgpu::binding {

// Whether the chosen implementation finds an adapter. Creates no device, never
// throws, and remembers its answer.
bool available() noexcept;

// The reason for available() == false, one sentence; empty otherwise.
std::string unavailable_reason();

}  // namespace torch_webgpu::binding
