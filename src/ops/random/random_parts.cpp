#include "ops/random/random_parts.h"

#include <ATen/ops/as_strided.h>

#include <algorithm>
#include <cmath>

#include "hal/buffer_pool.h"

namespace torch_webgpu::ops {

wgsl::params::u64 threshold_of(double probability) {
  return words_of(uint64_t(std::llround(std::ldexp(probability, 32))));
}

void for_parts(std::initializer_list<const at::Tensor*> tensors,
               c10::function_ref<void(const Part&)> launch) {
  const uint64_t limit = device().info().limits.max_storage_binding_size;
  const int64_t count = (*tensors.begin())->numel();
  int64_t size = count;
  for (const at::Tensor* tensor : tensors) {
    if (windows_of(*tensor) == 1) continue;
    // Half of it, since bindings begin at multiples of the alignment; whole
    // counters and words.
    const int64_t bound = int64_t(limit) / 2 / tensor->element_size();
    size = std::min(size, bound / 64 * 64);
  }
  for (int64_t begin = 0; begin < count; begin += size) {
    Part part{counters_for(begin), std::min(size, count - begin), {}};
    for (const at::Tensor* tensor : tensors) {
      part.tensors.push_back(
          size == count ? *tensor
                        : at::as_strided(*tensor, {part.count}, {1},
                                         tensor->storage_offset() + begin));
    }
    launch(part);
  }
}

}  // namespace torch_webgpu::ops
