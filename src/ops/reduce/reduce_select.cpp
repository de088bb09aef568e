// Reductions that pick an element: max, min, their indices, both at once.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/reduce/reduce.h"
#include "ops/runtime/native.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;

// There is no largest element of none.
void check_not_empty(const char* name, const Tensor& self, DimMask dims) {
  for (int64_t d = 0; d < self.dim(); ++d) {
    TORCH_CHECK_INDEX(!dims[d] || self.size(d) != 0, name,
                      ": Expected reduction dim ", d,
                      " to have non-zero size.");
  }
}

void check_not_empty(const char* name, const Tensor& self) {
  TORCH_CHECK(
      self.numel() > 0, name,
      ": Expected reduction dim to be specified for input.numel() == 0. "
      "Specify the reduction dim with the 'dim' argument.");
}

template <Reduction op>
Tensor& extreme_dims_out(const Tensor& self, at::IntArrayRef dim, bool keepdim,
                         Tensor& out) {
  constexpr const char* name = op == Reduction::Max ? "amax" : "amin";
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "Expected the dtype for input and out to match, but got ",
              self.scalar_type(), " for input's dtype and ", out.scalar_type(),
              " for out's dtype.");
  const DimMask dims = reduced_dims(self, dim);
  if (self.numel() == 0) {
    if (dim.empty()) check_not_empty(name, self);
    check_not_empty(name, self, dims);
  }
  resize_out(out, reduced_shape(self, dims, keepdim));
  reduce(op, self, dims, out);
  return out;
}

template <Reduction op>
Tensor& extreme_all_out(const Tensor& self, Tensor& out) {
  constexpr const char* name = op == Reduction::Max ? "max()" : "min()";
  check_not_empty(name, self);
  check_result_dtype(out, self.scalar_type());
  resize_out(out, {});
  reduce(op, self, reduced_dims(self, std::nullopt), out);
  return out;
}

template <Reduction op>
Tensor extreme_all(const Tensor& self) {
  Tensor out = at::empty({}, self.options());
  return extreme_all_out<op>(self, out);
}

template <Reduction op>
std::tuple<Tensor&, Tensor&> extreme_dim_out(const Tensor& self, int64_t dim,
                                             bool keepdim, Tensor& values,
                                             Tensor& indices) {
  constexpr bool max = op == Reduction::MaxIndex;
  const DimMask dims = reduced_dims(self, at::IntArrayRef(dim));
  check_not_empty(max ? "max()" : "min()", self, dims);
  check_result_dtype(values, self.scalar_type());
  check_result_dtype(indices, at::kLong);
  const auto shape = reduced_shape(self, dims, keepdim);
  resize_out(values, shape);
  resize_out(indices, shape);
  reduce(op, self, dims, values, indices);
  return {values, indices};
}

template <Reduction op>
Tensor& arg_out(const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                Tensor& out) {
  constexpr bool max = op == Reduction::ArgMax;
  constexpr const char* name = max ? "argmax()" : "argmin()";
  DimMask dims;
  if (dim) {
    dims = reduced_dims(self, at::IntArrayRef(*dim));
    check_not_empty(name, self, dims);
  } else {
    dims = reduced_dims(self, std::nullopt);
    check_not_empty(name, self);
  }
  check_result_dtype(out, at::kLong);
  resize_out(out, reduced_shape(self, dims, keepdim));
  reduce(op, self, dims, out);
  return out;
}

std::tuple<Tensor&, Tensor&> aminmax_out(const Tensor& self,
                                         std::optional<int64_t> dim,
                                         bool keepdim, Tensor& min,
                                         Tensor& max) {
  DimMask dims;
  if (dim) {
    dims = reduced_dims(self, at::IntArrayRef(*dim));
    check_not_empty("aminmax", self, dims);
  } else {
    dims = reduced_dims(self, std::nullopt);
    check_not_empty("aminmax", self);
  }
  check_result_dtype(min, self.scalar_type());
  check_result_dtype(max, self.scalar_type());
  const auto shape = reduced_shape(self, dims, keepdim);
  resize_out(min, shape);
  resize_out(max, shape);
  reduce(Reduction::MinMax, self, dims, min, max);
  return {min, max};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"amax.out", &extreme_dims_out<Reduction::Max>, takes_native_at<0>>(m);
  native<"amin.out", &extreme_dims_out<Reduction::Min>, takes_native_at<0>>(m);
  native<"max", &extreme_all<Reduction::Max>, takes_native_at<0>>(m);
  native<"min", &extreme_all<Reduction::Min>, takes_native_at<0>>(m);
  native<"max.unary_out", &extreme_all_out<Reduction::Max>, takes_native_at<0>>(
      m);
  native<"min.unary_out", &extreme_all_out<Reduction::Min>, takes_native_at<0>>(
      m);
  native<"max.dim_max", &extreme_dim_out<Reduction::MaxIndex>,
         takes_native_at<0>>(m);
  native<"min.dim_min", &extreme_dim_out<Reduction::MinIndex>,
         takes_native_at<0>>(m);
  native<"argmax.out", &arg_out<Reduction::ArgMax>, takes_native_at<0>>(m);
  native<"argmin.out", &arg_out<Reduction::ArgMin>, takes_native_at<0>>(m);
  native<"aminmax.out", &aminmax_out, takes_native_at<0>>(m);
}

}  // namespace torch_webgpu::ops
