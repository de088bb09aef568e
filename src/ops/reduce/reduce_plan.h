#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <algorithm>

#include "ops/kernel/params.h"
#include "ops/kernel/profile.h"
#include "ops/reduce/reduce_kernel.h"

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

// Elements below which a second launch costs more than it saves.
inline constexpr uint64_t kWorthSplitting = 1 << 18;

struct Plan {
  ReduceAccess access;
  uint16_t threads;
  uint32_t splits;
};

// Whether quads along these axes begin at multiples of four elements.
inline bool has_quads(const Axes& along, const Axes& across) {
  if (along.strides[0] != 1) return false;
  const auto aligned = [](const Axes& axes, uint32_t from) {
    for (uint32_t d = from; d < axes.rank; ++d) {
      if (axes.strides[d] % 4 != 0 && axes.sizes[d] != 1) return false;
    }
    return true;
  };
  return aligned(along, 1) && aligned(across, 0);
}

// How a reduction is laid over the adapter; `aligned` says that the input can
// be read in quads from its first element on.
inline Plan choose(const Profile& profile, const Axes& kept,
                   const Axes& reduced, bool aligned) {
  const bool cpu = profile.kind == Profile::Kind::Cpu;
  const uint64_t total = kept.count * reduced.count;
  const bool row = aligned && reduced.count >= 4 && has_quads(reduced, kept) &&
                   (reduced.rank == 1 || reduced.sizes[0] % 4 == 0);
  const bool column =
      aligned && has_quads(kept, reduced) && kept.sizes[0] % 4 == 0;
  Plan plan{row ? reduced.rank == 1 ? ReduceAccess::Line : ReduceAccess::Row
            : column ? ReduceAccess::Column
                     : ReduceAccess::Element,
            1, 1};
  const auto split = [&](uint64_t enough, uint64_t work) {
    const uint64_t wanted = std::max<uint64_t>(1, enough / kept.count);
    const uint64_t useful = std::max<uint64_t>(1, reduced.count / work);
    plan.splits = uint32_t(std::min(wanted, useful));
  };
  // Neighbouring threads should read neighbouring elements: those of different
  // results when the kept dimension is the dense one.
  const bool kept_dense =
      kept.count >= 32 && kept.strides[0] < reduced.strides[0];
  if (plan.access == ReduceAccess::Column) {
    // A thread takes four results.
    if (cpu) {
      if (total >= kWorthSplitting) split(4096, 64);
    } else {
      split(4 * 16384, 64);
    }
  } else if (cpu) {
    // A CPU's threads cost little beside their start, and its barriers much: a
    // thread per result, or per part of one, wherever there are enough.
    if (total >= kWorthSplitting) {
      split(1024, 2048);
    } else if (kept.count < kReduceWorkgroup && reduced.count >= 256) {
      plan.threads = kReduceWorkgroup;
    }
  } else {
    const bool by_group = reduced.count > 64 && !kept_dense;
    if (by_group) {
      plan.threads = plan.access != ReduceAccess::Element &&
                             reduced.count >= 4 * kReduceGroupGpu
                         ? kReduceGroupGpu
                         : kReduceWorkgroup;
      split(512, 4096);
    } else {
      split(16384, 64);
    }
  }
  if (plan.access == ReduceAccess::Line && plan.threads == 1) {
    plan.access = ReduceAccess::Row;
  }
  return plan;
}

// Threads for a result of the last stage, which merges `splits` parts.
inline uint16_t last_threads(uint64_t outputs, uint32_t splits) {
  return splits > 64 || (splits > 16 && outputs < kReduceWorkgroup)
             ? kReduceWorkgroup
             : 1;
}

}  // namespace torch_webgpu::ops
