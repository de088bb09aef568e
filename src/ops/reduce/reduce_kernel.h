#pragma once

#include <string>

#include "ops/kernel/family.h"
#include "ops/kernel/params.h"
#include "ops/reduce/reduce.h"

// The kernels of the reduction family.
namespace torch_webgpu::ops {

// Large reductions with few results are split: the first kernel leaves the
// accumulators of the parts in a buffer, the last one merges them.
enum class ReduceStage : uint8_t { Only, First, Last };

// How a kernel reaches its elements.
enum class ReduceAccess : uint8_t {
  Element,  // one by one, any strides
  Row,      // four neighbours of one result, through p.reduced_a
  Line,     // the same where the reduced elements of a result are dense
  Column,   // the same element of four neighbouring results
};

// Threads of a workgroup: where each works alone or on a CPU, and on a GPU
// where they share an item.
inline constexpr uint16_t kReduceWorkgroup = 64;
inline constexpr uint16_t kReduceGroupGpu = 256;

struct ReduceVariant {
  Reduction op;
  ReduceStage stage;
  wgsl::Compute compute;
  wgsl::DType a;
  wgsl::DType o;
  ReduceAccess access;
  uint16_t threads;  // of an item; 1: each thread takes its own
  uint8_t windows_a;
  uint8_t windows_o;
  uint8_t windows_q;
  uint8_t unused;
  static constexpr uint8_t ReduceVariant::* kWindows[] = {
      &ReduceVariant::windows_a, &ReduceVariant::windows_o,
      &ReduceVariant::windows_q};
};

WEBGPU_PARAMS(ReduceParams, (Walk, kept), (Walk, reduced), (u32x8, kept_a),
              (u32x8, reduced_a), (u32, outputs), (u32, count), (u32, splits),
              (u32, chunk), (u32, a_offset), (u32, o_offset), (u32, q_offset),
              (f32, divisor), (f32, order));

// The compiled kernel.
const hal::Kernel& reduce_kernel(const ReduceVariant&);

// Whether a kernel makes `o` from `a` in one step.
bool is_direct(Reduction, wgsl::DType a, wgsl::DType o);
// What `op` computes in, for an input and a (first) result of these types.
wgsl::Compute compute_for(Reduction, wgsl::DType a, wgsl::DType o);
// What the last stage computes in: a count no longer knows its input's type.
wgsl::Compute last_compute(Reduction, wgsl::Compute);
// The operator whose first stage this one shares.
Reduction first_stage_of(Reduction);
// Whether the accumulator holds an element's place.
bool is_indexed(Reduction);
// Whether the operator's result is a truth value.
bool is_truth(Reduction);

}  // namespace torch_webgpu::ops
