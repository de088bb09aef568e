#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ops/kernel/assembler.h"

namespace torch_webgpu::ops {

// A kernel whose text comes from a code generator: the same accessors, walks
// and wgsl/lib functions as the library's own. Kept as long as this object, and
// a while longer (see hal::Device::compile_outside).
//
// `fields` are (name, type) pairs, types as in params.h. The parameter block
// has `offset_a` for every operand `a` with a binding, in their order, and then
// these fields.
class GeneratedKernel {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  // Throws what WGSL's compiler finds wrong, with the kernel's label.
  GeneratedKernel(wgsl::KernelText text, const Fields& fields, bool trusted);

  // `tensors` are the operands that have a binding, in order: views of any
  // strides, none of which shares a buffer with one that is written.
  // `values` are the bytes of the fields, laid out as WGSL's uniform rules say,
  // from the next multiple of 16 bytes after the offsets on.
  void launch(std::span<const at::Tensor> tensors,
              std::span<const std::byte> values, uint64_t workgroups) const;

  // The whole WGSL, for people who debug a generator.
  const std::string& wgsl() const { return wgsl_; }

 private:
  std::shared_ptr<const hal::Kernel> kernel_;
  std::string wgsl_;
  std::vector<wgsl::Operand> bound_;
};

}  // namespace torch_webgpu::ops
