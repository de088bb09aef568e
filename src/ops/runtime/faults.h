#pragma once

#include <cstdint>

#include "hal/errors.h"

// What only a kernel can see to be wrong. It cannot raise, so it reports: the
// next readback or synchronize() raises (see hal::Stream::fault_buffer).
namespace torch_webgpu::ops {

enum class FaultKind : uint8_t {
  Index,        // out of range: nothing is read or written there; IndexError
  Probability,  // the value's low word is a f32 outside of [0, 1]
};

// What the kernels of an operator report. The name is a literal; any thread.
uint32_t fault_code(const char* op, FaultKind kind = FaultKind::Index);

[[noreturn]] void raise_fault(const hal::Fault&);

}  // namespace torch_webgpu::ops
