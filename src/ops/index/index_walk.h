#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <numeric>

#include "ops/index/indexed.h"

// The geometry of indexed reads and writes: slices and orders of a walk.
namespace torch_webgpu::ops {

// The walk's slice `at` of dimension d.
inline Indexing slice(const Indexing& whole, int64_t d, int64_t at) {
  Indexing part = whole;
  part.self_offset += at * whole.self_strides[d];
  part.index_offset += at * whole.index_strides[d];
  part.sizes.erase(part.sizes.begin() + d);
  part.self_strides.erase(part.self_strides.begin() + d);
  part.index_strides.erase(part.index_strides.begin() + d);
  if (d < whole.indexed_begin) --part.indexed_begin;
  if (d < whole.indexed_end) --part.indexed_end;
  return part;
}

// Dimensions by falling stride.
inline at::DimVector memory_order(const at::Tensor& t) {
  at::DimVector order(t.dim());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return t.stride(a) > t.stride(b);
  });
  return order;
}

inline int64_t outermost(const at::Tensor& t) {
  for (const int64_t d : memory_order(t)) {
    if (t.size(d) != 1) return d;
  }
  return 0;
}

// The walk with its dimensions in the order of out's memory.
inline Indexing in_memory_order(const Indexing& indexing,
                                const at::Tensor& out) {
  if (out.is_contiguous()) return indexing;
  Indexing result = indexing;
  const at::DimVector order = memory_order(out);
  for (size_t i = 0; i < order.size(); ++i) {
    result.sizes[i] = indexing.sizes[order[i]];
    result.self_strides[i] = indexing.self_strides[order[i]];
    result.index_strides[i] = indexing.index_strides[order[i]];
  }
  return result;
}

// Elements of 16 bytes as pairs of 8.
inline Indexing in_pairs(Indexing indexing) {
  for (auto& stride : indexing.self_strides)
    stride *= 2;
  indexing.self_offset *= 2;
  indexing.stride *= 2;
  indexing.sizes.push_back(2);
  indexing.self_strides.push_back(1);
  indexing.index_strides.push_back(0);
  return indexing;
}

inline int64_t count_of(const Indexing& indexing) {
  return c10::multiply_integers(indexing.sizes);
}

inline at::DimVector strides_of(const at::Tensor& t) {
  return {t.strides().begin(), t.strides().end()};
}

// Moves the indexed dimensions to the end, where one thread walks them.
inline void index_last(Indexing& indexing, at::DimVector& strides) {
  const auto rotate = [&](at::DimVector& v) {
    std::rotate(v.begin() + indexing.indexed_begin,
                v.begin() + indexing.indexed_end, v.end());
  };
  rotate(indexing.sizes);
  rotate(indexing.self_strides);
  rotate(indexing.index_strides);
  rotate(strides);
}

}  // namespace torch_webgpu::ops
