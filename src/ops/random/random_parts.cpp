#include "ops/random/random_parts.h"

#include <cmath>

namespace torch_webgpu::ops {

wgsl::params::u64 threshold_of(double probability) {
  return words_of(uint64_t(std::llround(std::ldexp(probability, 32))));
}

}  // namespace torch_webgpu::ops
