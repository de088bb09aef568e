#pragma once

#include <ATen/core/TensorBase.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
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

// Bindings that the tensor's buffer needs: 1, or more when it is above the
// device's binding limit. Part of a kernel's variant (Operand::windows).
uint8_t windows_of(const at::TensorBase&);

// One binding that holds all elements of a view. A buffer above the binding
// limit is bound only where the view is, and the kernel counts the elements
// from `first` on.
struct ViewBinding {
  hal::BufferBinding buffer;
  int64_t first = 0;
};
// None when the view itself is above the limit: split it (see pointwise.cpp).
std::optional<ViewBinding> bind_view(const at::TensorBase&);

// The one way to run a kernel. `tensors` are those operands that have a
// binding (Mode::Read, Write, Scatter), in the order of KernelText::operands;
// each is bound whole, whatever its view. `workgroups` is a count along one
// dimension, folded to two where it is above the limit: kernels take their
// place from thread_index() or group_index() of wgsl/lib/grid.wgsl and must
// check it against a bound in their parameters. Any thread; returns at once.
// A kernel that `reports` has the stream's fault buffer as its last operand.
void launch_bytes(const hal::Kernel&,
                  std::span<const at::TensorBase* const> tensors,
                  std::span<const std::byte> params, uint64_t workgroups,
                  bool reports = false);

// The same with bindings of the caller's choice.
void launch_bindings(const hal::Kernel&,
                     std::span<const hal::BufferBinding> bindings,
                     std::span<const std::byte> params, uint64_t workgroups);

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
