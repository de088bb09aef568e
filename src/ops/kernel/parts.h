#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <initializer_list>
#include <span>

// Dividing what one launch cannot bind. Operands in any order are halved
// (halves() in geometry.h); dense ones are divided here.
namespace torch_webgpu::ops {

struct Division {
  uint64_t units;         // elements or rows: what is divided
  uint32_t bindings;      // that a launch may have for the tensors together
  uint64_t multiple = 1;  // of each part's units, except for the last
};

// A part of the units, and of the tensors in the order given.
struct Part {
  uint64_t begin;
  uint64_t count;
  std::span<const at::Tensor> tensors;
};

// Runs on dense tensors whose elements divide evenly among the units (or which
// are undefined): once, except where they need too many bindings, then on parts
// of the units, in their order.
void for_parts(const Division&, std::initializer_list<const at::Tensor*>,
               c10::function_ref<void(const Part&)> run);

}  // namespace torch_webgpu::ops
