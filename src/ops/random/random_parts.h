#pragma once

#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/kernel/parts.h"
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

// For dense tensors of so many elements, in memory order: each in one binding,
// parts of whole counters and words.
inline Division draws_of(int64_t elements, uint32_t tensors) {
  return {uint64_t(elements), tensors, 64};
}

}  // namespace torch_webgpu::ops
