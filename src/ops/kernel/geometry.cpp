#include "ops/kernel/geometry.h"

#include <algorithm>

namespace torch_webgpu::ops {

bool make_geometry(std::span<const at::Tensor> tensors, Geometry& geometry) {
  const at::Tensor& first = tensors[0];
  c10::SmallVector<int64_t, 8> order;
  for (int64_t d = first.dim() - 1; d >= 0; --d) {
    if (first.size(d) != 1) order.push_back(d);
  }
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    return first.stride(a) < first.stride(b);
  });
  geometry = Geometry{};
  for (const int64_t d : order) {
    const int last = geometry.rank - 1;
    bool merges = last >= 0;
    for (size_t t = 0; merges && t < tensors.size(); ++t) {
      merges = tensors[t].stride(d) ==
               geometry.strides[t][last] * geometry.sizes[last];
    }
    if (merges) {
      geometry.sizes[last] *= first.size(d);
      continue;
    }
    if (geometry.rank == 8) return false;
    geometry.sizes[geometry.rank] = first.size(d);
    for (size_t t = 0; t < tensors.size(); ++t) {
      geometry.strides[t][geometry.rank] = tensors[t].stride(d);
    }
    ++geometry.rank;
  }
  return true;
}

int64_t widest_dim(const at::Tensor& view) {
  const auto reach = [&](int64_t d) {
    return (view.size(d) - 1) * view.stride(d);
  };
  int64_t widest = 0;
  for (int64_t d = 1; d < view.dim(); ++d) {
    if (reach(d) > reach(widest)) widest = d;
  }
  return widest;
}

int64_t first_dim(const at::Tensor& view) {
  int64_t d = 0;
  while (view.size(d) == 1)
    ++d;
  return d;
}

std::array<Half, 2> halves(std::span<const Input> inputs, const at::Tensor& out,
                           int64_t dim) {
  const int64_t middle = out.size(dim) / 2;
  const auto part = [&](int64_t begin, int64_t end) {
    Half half{{}, out.narrow(dim, begin, end - begin)};
    for (const Input& input : inputs) {
      half.inputs.push_back(input.is_scalar()
                                ? input
                                : Input(input.tensor.expand(out.sizes())
                                            .narrow(dim, begin, end - begin)));
    }
    return half;
  };
  return {part(0, middle), part(middle, out.size(dim))};
}

}  // namespace torch_webgpu::ops
