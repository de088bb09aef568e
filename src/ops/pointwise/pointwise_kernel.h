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
};

// How a thread's share of the elements lies, and is moved.
enum class Form : uint8_t {
  Element,  // side by side, one by one
  Strided,  // in chunks of 16 bytes, a workgroup's width apart
  Blocked,  // in chunks, side by side
  Run,      // the same, and one walk finds all of them
};

struct PointwiseVariant {
  OpId op;
  uint8_t dtype;     // of the inputs; of the output of a copy
  uint8_t in_dtype;  // the same, except for a copy
  Form form;
  uint8_t rank;     // of the walk; 0 for none
  uint8_t share;    // chunks, or words, of a thread
  Access access_o;  // Dense or Walked
  std::array<Access, kMaxPointwiseInputs> access;
  std::array<wgsl::Mode, kMaxPointwiseInputs> modes;
  uint16_t workgroup;
};

// clang-format off
#define POINTWISE_PARAMS(X) \
  X(Walk, at) \
  X(u32x8, at_a) \
  X(u32x8, at_b) \
  X(u32x8, at_c) \
  X(u32x8, at_o) \
  X(u64, value_a) \
  X(u64, value_b) \
  X(u64, value_c) \
  X(u64, s0) \
  X(u64, s1) \
  X(u64, s2) \
  X(u64, s3) \
  X(u32, offset_a) \
  X(u32, offset_b) \
  X(u32, offset_c) \
  X(u32, offset_o) \
  X(u32, count)
// clang-format on
WEBGPU_PARAMS(PointwiseParams, POINTWISE_PARAMS);

Family<PointwiseVariant>& pointwise_family();

wgsl::DType pointwise_output(const PointwiseOp&, wgsl::DType);
// Predicates read bool tensors as bytes: one kernel for both.
wgsl::DType pointwise_kernel_dtype(const PointwiseOp&, wgsl::DType);
// Elements of a chunk: a unit of 16 bytes of the narrowest operand.
uint32_t chunk_size(const PointwiseOp&, wgsl::DType in, wgsl::DType out);
// True when the expression costs more than the memory it works on, so that it
// stands in a kernel once and not for each element of a chunk.
bool is_heavy(OpId, wgsl::Compute);

}  // namespace torch_webgpu::ops
