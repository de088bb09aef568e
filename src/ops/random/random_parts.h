#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>

#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/random/generator.h"

// What the kernels that draw random numbers have in common: a thread makes
// four elements of one counter (see random_block in wgsl/lib/philox.wgsl).
namespace torch_webgpu::ops {

inline uint64_t counters_for(int64_t elements) {
  return ceil_div(uint64_t(elements), 4);
}

using wgsl::params::words_of;

// A probability as a kernel's threshold (see is_drawn).
wgsl::params::u64 threshold_of(double probability);

// Elements of dense tensors that one launch can bind.
struct Part {
  uint64_t counter;  // of the first element, from that of the whole on
  int64_t count;
  c10::SmallVector<at::Tensor, 3> tensors;
};

// Dense tensors of the same number of elements, in memory order: one part,
// except above the binding limit.
void for_parts(std::initializer_list<const at::Tensor*> tensors,
               c10::function_ref<void(const Part&)> launch);

}  // namespace torch_webgpu::ops
