#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>

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
