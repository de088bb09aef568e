#pragma once

#include <cstdint>
#include <string>

#include "hal/errors.h"

// Indices out of range. A kernel cannot raise, so it reads zero or writes
// nothing there and reports; the next readback or synchronize() raises
// IndexError (see hal::Stream::fault_buffer).
namespace torch_webgpu::ops {

// What the kernels of an operator report. The name is a literal; any thread.
uint32_t fault_code(const char* op);

// The sentence for a report.
std::string describe_fault(const hal::Fault&);

}  // namespace torch_webgpu::ops
