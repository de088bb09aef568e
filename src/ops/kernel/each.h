#pragma once

#include <ATen/core/Tensor.h>

#include "ops/kernel/launch.h"
#include "ops/kernel/profile.h"

// Kernels that make each element of a dense output from its number alone: a
// sequence, a part of a matrix, elements read by way of an index. An operator
// writes `fn value(e: u32) -> T`; its parameters have offset_o, count and
// share.
namespace torch_webgpu::ops {

// Makes `text` such a kernel, with the function's text.
inline void make_each(wgsl::KernelText& text, const std::string& value,
                      uint32_t workgroup) {
  text.file = "each";
  text.substitutions = {{"value", value},
                        {"quad", wgsl::quad_type(text.compute)},
                        {"workgroup", std::to_string(workgroup)}};
}

// The output's operand.
inline wgsl::Operand each_operand(wgsl::DType dtype, uint8_t windows) {
  return {"o", dtype, wgsl::Mode::Write, windows, "", wgsl::Width::Quad};
}

// Fills in what the loop needs for `count` elements from `offset_o` on, and
// returns the number of workgroups of the profile's size.
template <class Params>
uint64_t set_each(Params& p, uint32_t offset_o, uint32_t count) {
  p.offset_o = offset_o;
  p.count = count;
  const uint64_t quads = ceil_div(uint64_t(offset_o % 4) + count, 4);
  p.share = profile().rounds(quads);
  return ceil_div(quads, uint64_t(p.share) * profile().workgroup);
}

}  // namespace torch_webgpu::ops
