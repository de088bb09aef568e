#pragma once

#include <array>

#include "ops/kernel/family.h"
#include "ops/kernel/operand.h"
#include "ops/kernel/params.h"
#include "ops/pointwise/pointwise.h"

// The kernels of the pointwise family; pointwise.cpp chooses among them.
namespace torch_webgpu::ops {

inline constexpr int kMaxPointwiseInputs = 3;

// How a kernel finds an operand's elements of output element e.
enum class Access : uint8_t {
  Dense,   // side by side, in the order of e
  Walked,  // by a walk; in chunks: side by side within one
  Splat,   // by a walk, one element for a chunk
  Gather,  // by a walk, a stride apart within a chunk
  Still,   // side by side within a chunk, the same in all rows
};

// How elements are moved: a word of the output at a time, or in chunks of 16
// bytes, of which a workgroup takes p.share rounds, through the output or down
// the rows of a matrix (no operand is Dense then: all have strides). A loop
// whose rounds only the parameters know is, on a CPU adapter, twice as fast as
// one that is unrolled.
enum class Form : uint16_t { Element, Chunk, Rows };

struct PointwiseVariant {
  OpId op;
  Form form;
  uint16_t workgroup;
  uint8_t dtype;     // of the inputs; of the output of a copy
  uint8_t in_dtype;  // the same, except for a copy
  uint8_t rank;      // of the walk; 0 for none
  Access access_o;   // Dense or Walked
  std::array<Access, kMaxPointwiseInputs> access;
  std::array<wgsl::Mode, kMaxPointwiseInputs> modes;
};

WEBGPU_PARAMS(PointwiseParams, (Walk, at), (u32x8, at_a), (u32x8, at_b),
              (u32x8, at_c), (u32x8, at_o), (u32x8, at_x), (u64, value_a),
              (u64, value_b), (u64, value_c), (u64, s0), (u64, s1), (u64, s2),
              (u64, s3), (u32, offset_a), (u32, offset_b), (u32, offset_c),
              (u32, offset_o), (u32, count), (u32, share));

Family<PointwiseVariant>& pointwise_family();
wgsl::KernelText describe_pointwise(const PointwiseVariant&);

wgsl::DType pointwise_output(const PointwiseOp&, wgsl::DType);
// Predicates read bool tensors as bytes: one kernel for both.
wgsl::DType pointwise_kernel_dtype(const PointwiseOp&, wgsl::DType);
// Elements of a chunk: a unit of 16 bytes of the narrowest operand.
uint32_t chunk_size(const PointwiseOp&, wgsl::DType in, wgsl::DType out);
// True when the expression costs more than the memory it works on, so that it
// stands in a kernel once and not for each element of a chunk.
bool is_heavy(OpId, wgsl::Compute);

}  // namespace torch_webgpu::ops
