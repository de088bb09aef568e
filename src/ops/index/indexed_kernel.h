#pragma once

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>

#include "ops/index/indexed.h"
#include "ops/kernel/assembler.h"
#include "ops/kernel/params.h"

// What the kernels that take an index tensor have in common.
namespace torch_webgpu::ops {

// `a` is what is read by way of the index, `o` what is written, `v` what is
// written to it by way of the index.
WEBGPU_PARAMS(IndexedParams, (Walk, at), (u32x8, at_a), (u32x8, at_o),
              (u32x8, at_v), (u32x8, at_i), (u32, offset_a), (u32, offset_o),
              (u32, offset_v), (u32, offset_i), (u32, count), (u32, share),
              (u32, units), (u32, parts), (u32, each), (u32, lanes),
              (u32, inner), (u32, bound), (u32, stride), (u32, skip),
              (u32, wraps), (u32, fault));

inline const char* name_of(IndexKind kind) {
  constexpr const char* kNames[] = {"none", "i64", "i32", "u32"};
  return kNames[static_cast<size_t>(kind)];
}

// The place along the dimension that element `index` of the index means.
inline std::string place_text(IndexKind kind) {
  if (kind == IndexKind::None) return "0u";
  const char* load = kind == IndexKind::Offset ? "read_i" : "load_i";
  return fmt::format("place_of_{}({}(index))", name_of(kind), load);
}

// Offsets were checked when they were made.
inline bool reports(IndexKind kind) {
  return kind == IndexKind::Long || kind == IndexKind::Int;
}

inline wgsl::Operand fault_operand(IndexKind kind) {
  return {"f", wgsl::DType::I32,
          reports(kind) ? wgsl::Mode::Scatter : wgsl::Mode::Absent, 1, ""};
}

inline wgsl::Operand index_operand(IndexKind kind, uint8_t windows) {
  return {"i", kind == IndexKind::Long ? wgsl::DType::I64 : wgsl::DType::I32,
          kind == IndexKind::None ? wgsl::Mode::Absent : wgsl::Mode::Read,
          windows, ""};
}

inline IndexKind kind_of(const at::Tensor& index) {
  TORCH_CHECK_INDEX(
      index.scalar_type() == at::kLong || index.scalar_type() == at::kInt,
      "expected an index of dtype int64 or int32, but got ",
      index.scalar_type());
  return index.scalar_type() == at::kLong ? IndexKind::Long : IndexKind::Int;
}

struct Strides {
  const at::DimVector& from;  // outermost first
  wgsl::params::u32x8& to;    // innermost first
};

// The walk in the parameters, dimensions that are one for every operand
// merged. False, and nothing set, when more than eight remain.
inline bool set_walk(wgsl::params::Walk& walk, const at::DimVector& sizes,
                     std::initializer_list<Strides> operands) {
  at::DimVector merged;
  for (auto d = int64_t(sizes.size()) - 1; d >= 0; --d) {
    if (sizes[d] == 1) continue;
    const bool merges =
        !merged.empty() && std::ranges::all_of(operands, [&](const Strides& s) {
          return uint32_t(s.from[d]) ==
                 s.to[merged.size() - 1] * uint32_t(merged.back());
        });
    if (merges) {
      merged.back() *= sizes[d];
      continue;
    }
    if (merged.size() == 8) return false;
    for (const Strides& s : operands)
      s.to[merged.size()] = uint32_t(s.from[d]);
    merged.push_back(sizes[d]);
  }
  for (const int64_t size : merged)
    walk.add(uint32_t(size));
  return true;
}

}  // namespace torch_webgpu::ops
