#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ops/kernel/assembler.h"
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

// The fields with which the parameters of a row kernel begin. Each operand `a`
// in rows has an a_offset besides.
#define ROW_PARAMS (u32, rows), (u32, count), (u32, inner)

template <class Params>
void fill_rows(Params& p, const Rows& rows) {
  p.rows = uint32_t(rows.rows());
  p.count = rows.count;
  p.inner = rows.inner;
}

// How a row kernel is laid over the adapter: part of its variant.
struct RowPlan {
  uint16_t threads = 1;  // that share a row
  // They are a subgroup, and their workgroup no more: WGSL wants to see that
  // a subgroup's threads all come to its functions.
  uint8_t subgroup = 0;
  uint8_t wide = 0;  // the row is read and written in quads
  uint8_t held = 0;  // what is read again is kept in workgroup memory
  // Every thread of the subgroup has as many units: they count together, which
  // saves a CPU the masks of loops that some threads leave early.
  uint8_t even = 0;

  bool by_group() const { return threads > 1 && !subgroup; }
  uint32_t workgroup() const;  // threads
  uint64_t workgroups(const Rows&) const;
  std::string label() const;
  // The plan that stands for it among those of all_row_plans(): numbers of
  // threads only change that number.
  RowPlan listed() const;
};

// A row kernel is written once, in units: elements, or quads in a wide plan.
// {{rows}} of its text becomes
//   V, U, width         f32, u32 and 1, or vec4<f32>, vec4<u32> and 4
//   threads             that share a row
//   row_of(group, groups, lane): the thread's row
//   first_of(lane)      the first of its units j, which lie `threads` apart
//   unit_of(j, lane)    the place of the unit j in the row
//   leads(lane)         whether it is the first thread of the row
//   row_units()         of a row
//   unit_max, unit_max_bits, unit_exp (of V not above 88, nor NaN), of
//                       one unit
//   row_sum(V, lane), row_max(f32, lane): of all threads of the row
//   start_a(row, lane), get_a(start, j), put_a(start, j, V): for each operand
//                       in rows; take_a is get_a where the kernel will read
//                       the unit again
//   first_put(lane), next_put(j): the units that a thread writes, which are
//                       those it reads unless several share a word
// {{workgroup}} is the workgroup's size.
struct RowOperand {
  std::string name;
  wgsl::DType dtype;
  wgsl::Mode mode;
  uint8_t windows;
  bool again = false;  // read twice
};
wgsl::KernelText row_kernel(const char* file, const RowPlan&,
                            std::initializer_list<RowOperand>);

// The declarations of V, U and width alone.
std::string unit_text(bool wide);

// `wide` says that all operands can be reached in quads; `again` is how many
// of them are read twice.
RowPlan choose(const Profile&, const Rows&, bool wide, uint32_t again);
std::vector<RowPlan> all_row_plans();

// Whether the dense tensors can be reached in quads from their first elements
// on; an undefined one is no obstacle.
bool have_quads(std::initializer_list<const at::Tensor*>);

// Runs a row kernel on dense tensors whose elements divide evenly among the
// outer rows (or which are undefined): once, except where they need more
// bindings than the adapter has. Then on parts of the outer rows, of which each
// but the last is a multiple of `multiple`.
void for_row_parts(
    const Rows&, std::initializer_list<const at::Tensor*> tensors,
    c10::function_ref<void(const Rows&, std::span<const at::Tensor>)> run,
    uint32_t multiple = 1);

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
