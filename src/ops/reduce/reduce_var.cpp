// Variance and standard deviation, with or without the mean.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>

#include "ops/reduce/reduce.h"
#include "ops/runtime/native.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::OptionalIntArrayRef;
using at::Tensor;
using Correction = std::optional<at::Scalar>;

void check_float(const char* name, const Tensor& self) {
  TORCH_CHECK(at::isFloatingType(self.scalar_type()), name,
              " only support floating point and complex dtypes, got ",
              self.scalar_type());
}

void moments(Reduction op, const char* name, const Tensor& self,
             OptionalIntArrayRef dim, const Correction& correction,
             bool keepdim, const Tensor& out, const Tensor& mean = {}) {
  check_float(name, self);
  const DimMask dims = reduced_dims(self, dim);
  const auto shape = reduced_shape(self, dims, keepdim);
  resize_out(out, shape);
  const double wanted = correction ? correction->toDouble() : 1.0;
  const double freedom = double(reduced_count(self, dims)) - wanted;
  if (freedom <= 0) {
    TORCH_WARN(name,
               "(): degrees of freedom is <= 0. Correction should be strictly "
               "less than the reduction factor (input numel divided by output "
               "numel).");
  }
  if (reduced_count(self, dims) == 0) {
    // The mean of nothing is NaN too, which no accumulator says.
    out.fill_(NAN);
    if (mean.defined()) mean.fill_(NAN);
    return;
  }
  reduce(op, self, dims, out, mean, {.divisor = std::max(0.0, freedom)});
}

template <Reduction op>
Tensor& moment_out(const Tensor& self, OptionalIntArrayRef dim,
                   const Correction& correction, bool keepdim, Tensor& out) {
  constexpr const char* name = op == Reduction::Var ? "var" : "std";
  check_float(name, self);
  check_result_dtype(out, self.scalar_type());
  moments(op, name, self, dim, correction, keepdim, out);
  return out;
}

template <Reduction op>
Tensor moment(const Tensor& self, OptionalIntArrayRef dim,
              const Correction& correction, bool keepdim) {
  constexpr const char* name = op == Reduction::Var ? "var" : "std";
  check_float(name, self);
  Tensor out = at::empty(reduced_shape(self, reduced_dims(self, dim), keepdim),
                         self.options());
  moments(op, name, self, dim, correction, keepdim, out);
  return out;
}

template <Reduction op>
std::tuple<Tensor, Tensor> moment_and_mean(const Tensor& self,
                                           OptionalIntArrayRef dim,
                                           const Correction& correction,
                                           bool keepdim) {
  constexpr const char* name =
      op == Reduction::VarMean ? "var_mean" : "std_mean";
  check_float(name, self);
  const auto shape = reduced_shape(self, reduced_dims(self, dim), keepdim);
  Tensor out = at::empty(shape, self.options());
  Tensor mean = at::empty(shape, self.options());
  moments(op, name, self, dim, correction, keepdim, out, mean);
  return {out, mean};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"var.correction", &moment<Reduction::Var>, takes_native>(m);
  native<"std.correction", &moment<Reduction::Std>, takes_native>(m);
  native<"var.correction_out", &moment_out<Reduction::Var>, takes_native>(m);
  native<"std.correction_out", &moment_out<Reduction::Std>, takes_native>(m);
  native<"var_mean.correction", &moment_and_mean<Reduction::VarMean>,
         takes_native>(m);
  native<"std_mean.correction", &moment_and_mean<Reduction::StdMean>,
         takes_native>(m);
}

}  // namespace torch_webgpu::ops
