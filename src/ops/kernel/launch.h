#pragma once

#include <ATen/core/TensorBase.h>

#include <cstddef>
#include <initializer_list>
#include <span>

#include "hal/stream.h"
#include "ops/kernel/assembler.h"
#include "ops/runtime/runtime.h"

namespace torch_webgpu::ops {

// Threads of a workgroup in kernels that treat elements one by one.
inline constexpr uint32_t kWorkgroup = 64;

inline uint64_t ceil_div(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

// A kernel sees a view, and counts elements from the beginning of what is bound
// for it: the view's buffer, whole; where that is above the device's binding
// limit, only the part in which the view lies; and where the view itself is
// above the limit, several windows of it.
//
// The number of bindings, part of a kernel's variant (Operand::windows).
uint8_t windows_of(const at::TensorBase& view);
// The place of the view's first element, for the kernel's parameters.
uint32_t offset_of(const at::TensorBase& view);
// The element of the storage from which the kernel counts.
int64_t origin_of(const at::TensorBase& view);

// The one way to run a kernel. `tensors` are those operands that have a
// binding (Mode::Read, Write, Scatter), in the order of KernelText::operands.
// `workgroups` is a count along one dimension, folded to two where it is above
// the limit: kernels take their place from thread_index() or group_index() of
// wgsl/lib/grid.wgsl and must check it against a bound in their parameters. Any
// thread; returns at once. A kernel that `reports` has the stream's fault
// buffer as its last operand.
void launch_bytes(const hal::Kernel&,
                  std::span<const at::TensorBase* const> tensors,
                  std::span<const std::byte> params, uint64_t workgroups,
                  bool reports = false);

template <class Params>
void launch(const hal::Kernel& kernel,
            std::initializer_list<const at::TensorBase*> tensors,
            const Params& params, uint64_t workgroups) {
  launch_bytes(kernel, {tensors.begin(), tensors.size()},
               std::as_bytes(std::span(&params, 1)), workgroups);
}

// True when both are views of one buffer: a kernel that writes one of them
// must see the other as Mode::Shared, or read a copy.
bool same_buffer(const at::TensorBase&, const at::TensorBase&);

}  // namespace torch_webgpu::ops
