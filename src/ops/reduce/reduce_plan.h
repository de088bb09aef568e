#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <algorithm>

#include "ops/kernel/params.h"
#include "ops/reduce/reduce.h"

// How a reduction is laid over the grid.
namespace torch_webgpu::ops {

// Dimensions, innermost first, neighbours merged where the strides allow it.
struct Axes {
  uint64_t count = 1;
  uint32_t rank = 0;
  wgsl::params::u32x8 sizes, strides;
  bool fits = true;

  void add(int64_t size, int64_t stride) {
    if (size == 1) return;
    count *= uint64_t(size);
    if (rank > 0 &&
        uint64_t(stride) == uint64_t(sizes[rank - 1]) * strides[rank - 1]) {
      sizes[rank - 1] *= uint32_t(size);
    } else if (rank < 8) {
      sizes[rank] = uint32_t(size);
      strides[rank] = uint32_t(stride);
      ++rank;
    } else {
      fits = false;
    }
  }
  void close() {
    if (rank > 0) return;
    rank = 1;
    sizes[0] = 1;
    strides[0] = 0;
  }
};

// The order of the kept dimensions is that of the result; the reduced ones may
// come in any order unless their index matters.
inline void split_axes(const at::Tensor& self, DimMask dims, bool ordered,
                       Axes& kept, Axes& reduced) {
  c10::SmallVector<int64_t, 8> inner;
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    if (dims[d]) {
      inner.push_back(d);
    } else {
      kept.add(self.size(d), self.stride(d));
    }
  }
  if (!ordered) {
    std::stable_sort(inner.begin(), inner.end(), [&](int64_t a, int64_t b) {
      return self.stride(a) < self.stride(b);
    });
  }
  for (const int64_t d : inner)
    reduced.add(self.size(d), self.stride(d));
  kept.close();
  reduced.close();
}

struct Plan {
  bool by_group;
  uint32_t splits;
};

// Threads that fill a GPU; more parts than this only cost memory.
inline constexpr uint64_t kEnoughThreads = 16384;
inline constexpr uint64_t kEnoughGroups = 512;
// Elements that are worth a thread's, or a workgroup's, time.
inline constexpr uint64_t kThreadWork = 64;
inline constexpr uint64_t kGroupWork = 4096;

inline Plan plan_for(const Axes& kept, const Axes& reduced) {
  // Neighbouring threads should read neighbouring elements: those of different
  // results when the kept dimension is the dense one.
  const bool kept_dense =
      kept.count >= 32 && kept.strides[0] < reduced.strides[0];
  const bool by_group = reduced.count > kThreadWork && !kept_dense;
  const uint64_t enough = by_group ? kEnoughGroups : kEnoughThreads;
  const uint64_t work = by_group ? kGroupWork : kThreadWork;
  const uint64_t wanted = std::max<uint64_t>(1, enough / kept.count);
  const uint64_t useful = std::max<uint64_t>(1, reduced.count / work);
  return {by_group, uint32_t(std::min(wanted, useful))};
}

}  // namespace torch_webgpu::ops
