#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "ops/kernel/profile.h"

// What kernels that treat a tensor row by row have in common.
namespace torch_webgpu::ops {

// A tensor as rows of `count` elements that lie `inner` apart:
// [outer, count, inner], contiguous.
struct Rows {
  uint32_t outer = 1;
  uint32_t count = 1;
  uint32_t inner = 1;

  uint64_t rows() const { return uint64_t(outer) * inner; }
  // A workgroup takes a row, or each thread its own.
  bool by_group() const { return count > 64 && (inner == 1 || rows() < 64); }
  uint64_t workgroups() const;
};

Rows rows_along(const at::Tensor& self, int64_t dim);

// How a row kernel is laid over the adapter: part of its variant.
struct RowPlan {
  uint16_t threads = 1;  // that share a row
  // They are a subgroup, and their workgroup no more: WGSL wants to see that
  // a subgroup's threads all come to its functions.
  uint8_t subgroup = 0;
  uint8_t wide = 0;  // the row is read and written in quads

  uint32_t workgroup() const;  // threads
  uint64_t workgroups(const Rows&) const;
  std::string label() const;
  // The substitutions `threads`, `workgroup`, `row`, `first` and `share`.
  std::vector<std::pair<std::string, std::string>> placement() const;
};

// `wide` says that all operands can be reached in quads.
RowPlan choose(const Profile&, const Rows&, bool wide);
// Every plan that choose() can give for an adapter with subgroups of 8.
std::vector<RowPlan> all_row_plans();

// Whether the dense tensor can be bound and reached in quads from its first
// element on; an undefined one is no obstacle.
bool has_quads(const at::Tensor&);

// Where a row kernel writes what `out` shall hold: `out` itself, or a tensor
// that finish() copies (and casts) to it, when `out` has strides, shares the
// buffer of an input, or is of a narrow type with rows that do not begin at
// words (the other tensor is then float32 or int64).
class RowTarget {
 public:
  RowTarget(const at::Tensor& out, const Rows& rows,
            std::initializer_list<const at::Tensor*> inputs);
  const at::Tensor& tensor() const { return target_; }
  void finish() const;

 private:
  at::Tensor out_;
  at::Tensor target_;
};

}  // namespace torch_webgpu::ops
