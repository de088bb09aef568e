// Reductions to one value that need no order: sums, products, truth values,
// norms.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ne.h>
#include <torch/library.h>

#include <cmath>

#include "ops/kernel/dtype.h"
#include "ops/reduce/reduce.h"
#include "ops/runtime/fallback.h"
#include "ops/runtime/native.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::OptionalIntArrayRef;
using at::ScalarType;
using at::Tensor;

// What sum and prod give when nobody asks for a dtype.
ScalarType summed_type(const Tensor& self, std::optional<ScalarType> dtype) {
  if (dtype) return *dtype;
  return at::isIntegralType(self.scalar_type(), /*includeBool=*/true)
             ? at::kLong
             : self.scalar_type();
}

bool takes_summed(const Tensor& self, std::optional<ScalarType> dtype) {
  return is_native(self) && wgsl::has_dtype(summed_type(self, dtype));
}

bool takes_summed_dims(const Tensor& self, OptionalIntArrayRef, bool,
                       std::optional<ScalarType> dtype) {
  return takes_summed(self, dtype);
}

void check_requested_dtype(const Tensor& out, std::optional<ScalarType> dtype) {
  if (dtype) check_result_dtype(out, *dtype);
}

Tensor& sum_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                std::optional<ScalarType> dtype, Tensor& out) {
  check_requested_dtype(out, dtype);
  const DimMask dims = reduced_dims(self, dim);
  resize_out(out, reduced_shape(self, dims, keepdim));
  reduce(Reduction::Sum, self, dims, out);
  return out;
}

Tensor& nansum_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype, Tensor& out) {
  if (at::isIntegralType(self.scalar_type(), /*includeBool=*/true)) {
    return sum_out(self, dim, keepdim, dtype, out);
  }
  check_requested_dtype(out, dtype);
  const DimMask dims = reduced_dims(self, dim);
  resize_out(out, reduced_shape(self, dims, keepdim));
  reduce(at::isFloatingType(out.scalar_type()) ? Reduction::NanSum
                                               : Reduction::Sum,
         self, dims, out);
  return out;
}

Tensor nansum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
              std::optional<ScalarType> dtype) {
  const DimMask dims = reduced_dims(self, dim);
  Tensor out = at::empty(reduced_shape(self, dims, keepdim),
                         self.options().dtype(summed_type(self, dtype)));
  return nansum_out(self, dim, keepdim, dtype, out);
}

Tensor& mean_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                 std::optional<ScalarType> dtype, Tensor& out) {
  check_requested_dtype(out, dtype);
  TORCH_CHECK(at::isFloatingType(out.scalar_type()),
              "mean(): could not infer output dtype. Optional dtype must be "
              "either a floating point or complex dtype. Got: ",
              out.scalar_type());
  const DimMask dims = reduced_dims(self, dim);
  resize_out(out, reduced_shape(self, dims, keepdim));
  reduce(Reduction::Mean, self, dims, out, {},
         {.divisor = double(reduced_count(self, dims))});
  return out;
}

Tensor& prod_out(const Tensor& self, int64_t dim, bool keepdim,
                 std::optional<ScalarType> dtype, Tensor& out) {
  check_requested_dtype(out, dtype);
  const DimMask dims = reduced_dims(self, at::IntArrayRef(dim));
  resize_out(out, reduced_shape(self, dims, keepdim));
  reduce(Reduction::Prod, self, dims, out);
  return out;
}

Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) {
  Tensor out = at::empty({}, self.options().dtype(summed_type(self, dtype)));
  reduce(Reduction::Prod, self, reduced_dims(self, std::nullopt), out);
  return out;
}

ScalarType truth_type(const Tensor& self) {
  return self.scalar_type() == at::kByte ? at::kByte : at::kBool;
}

void truth(Reduction op, const char* name, const Tensor& self, DimMask dims,
           bool keepdim, Tensor& out) {
  TORCH_CHECK(out.scalar_type() == at::kBool || out.scalar_type() == at::kByte,
              name,
              ": Expected out tensor to have dtype bool or uint8, but got ",
              out.scalar_type(), " instead");
  resize_out(out, reduced_shape(self, dims, keepdim));
  if (out.scalar_type() == truth_type(self)) {
    reduce(op, self, dims, out);
  } else {
    Tensor result =
        at::empty(out.sizes(), out.options().dtype(truth_type(self)));
    reduce(op, self, dims, result);
    out.copy_(result);
  }
}

template <Reduction op>
constexpr const char* kTruthName =
    op == Reduction::Any ? "aten::any" : "aten::all";

template <Reduction op>
Tensor& truth_dim_out(const Tensor& self, int64_t dim, bool keepdim,
                      Tensor& out) {
  truth(op, kTruthName<op>, self, reduced_dims(self, at::IntArrayRef(dim)),
        keepdim, out);
  return out;
}

template <Reduction op>
Tensor& truth_dims_out(const Tensor& self, OptionalIntArrayRef dim,
                       bool keepdim, Tensor& out) {
  truth(op, kTruthName<op>, self,
        reduced_dims(self, dim, /*empty_is_none=*/true), keepdim, out);
  return out;
}

template <Reduction op>
Tensor truth_dims(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  const DimMask dims = reduced_dims(self, dim, /*empty_is_none=*/true);
  Tensor out = at::empty(reduced_shape(self, dims, keepdim),
                         self.options().dtype(truth_type(self)));
  return truth_dims_out<op>(self, dim, keepdim, out);
}

template <Reduction op>
Tensor& truth_all_out(const Tensor& self, Tensor& out) {
  truth(op, kTruthName<op>, self, reduced_dims(self, std::nullopt), false, out);
  return out;
}

Tensor count_nonzero(const Tensor& self, at::IntArrayRef dim) {
  const DimMask dims = reduced_dims(self, dim);
  Tensor out = at::empty(reduced_shape(self, dims, false),
                         self.options().dtype(at::kLong));
  reduce(Reduction::CountNonzero, self, dims, out);
  return out;
}

Tensor& vector_norm_out(const Tensor& self, const at::Scalar& ord,
                        OptionalIntArrayRef dim, bool keepdim,
                        std::optional<ScalarType> dtype, Tensor& out) {
  TORCH_CHECK(at::isFloatingType(self.scalar_type()),
              "linalg.vector_norm: Expected a floating point or complex tensor "
              "as input. Got ",
              self.scalar_type());
  check_result_dtype(out, dtype.value_or(self.scalar_type()));
  const DimMask dims = reduced_dims(self, dim);
  const double order = ord.toDouble();
  if (order < 0 || order == INFINITY) {
    TORCH_CHECK(reduced_count(self, dims) > 0,
                "linalg.vector_norm cannot compute the ", order,
                " norm on an empty tensor because the operation does not have "
                "an identity");
  }
  resize_out(out, reduced_shape(self, dims, keepdim));
  const Reduction op = order == 0           ? Reduction::Norm0
                       : order == 1         ? Reduction::Norm1
                       : order == 2         ? Reduction::Norm2
                       : order == INFINITY  ? Reduction::NormMax
                       : order == -INFINITY ? Reduction::NormMin
                                            : Reduction::NormP;
  reduce(op, self, dims, out, {}, {.order = order});
  return out;
}

Tensor& norm_out(const Tensor& self, const std::optional<at::Scalar>& p,
                 at::IntArrayRef dim, bool keepdim, Tensor& out) {
  return vector_norm_out(self, p.value_or(2.0), dim, keepdim, std::nullopt,
                         out);
}

Tensor& norm_dtype_out(const Tensor& self, const std::optional<at::Scalar>& p,
                       at::IntArrayRef dim, bool keepdim, ScalarType dtype,
                       Tensor& out) {
  return vector_norm_out(self, p.value_or(2.0), dim, keepdim, dtype, out);
}

Tensor& logsumexp_out(const Tensor& self, at::IntArrayRef dim, bool keepdim,
                      Tensor& out) {
  TORCH_CHECK(at::isFloatingType(out.scalar_type()),
              "logsumexp(): Expected floating point type for result tensor, "
              "but got: ",
              out.scalar_type());
  const DimMask dims = reduced_dims(self, dim);
  resize_out(out, reduced_shape(self, dims, keepdim));
  reduce(Reduction::LogSumExp, self, dims, out);
  return out;
}

ScalarType logsumexp_type(const Tensor& self) {
  return at::isIntegralType(self.scalar_type(), /*includeBool=*/true)
             ? c10::get_default_dtype_as_scalartype()
             : self.scalar_type();
}

bool takes_logsumexp(const Tensor& self, at::IntArrayRef, bool) {
  return is_native(self) && wgsl::has_dtype(logsumexp_type(self));
}

Tensor logsumexp(const Tensor& self, at::IntArrayRef dim, bool keepdim) {
  Tensor out = at::empty(reduced_shape(self, reduced_dims(self, dim), keepdim),
                         self.options().dtype(logsumexp_type(self)));
  return logsumexp_out(self, dim, keepdim, out);
}

// Registered as it is: what decides without looking at an element needs no
// CPU, whatever the dtype.
bool equal(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.device() == other.device(),
              "Cannot compare two tensors on different devices. Got: ",
              self.device(), " and ", other.device());
  TORCH_CHECK(self.scalar_type() == other.scalar_type(),
              "Expected all tensors to have the same dtype, but found ",
              self.scalar_type(), " and ", other.scalar_type());
  if (self.sizes() != other.sizes()) return false;
  if (self.numel() == 0) return true;
  if (!is_native(self)) {
    return cpu_call("aten::equal", "", {self, other})[0].toBool();
  }
  return !at::ne(self, other).any().item<bool>();
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"sum.IntList_out", &sum_out, takes_native>(m);
  native<"nansum", &nansum, &takes_summed_dims>(m);
  native<"nansum.out", &nansum_out, takes_native>(m);
  native<"mean.out", &mean_out, takes_native>(m);
  native<"prod.int_out", &prod_out, takes_native>(m);
  native<"prod", &prod, &takes_summed>(m);
  native<"any.out", &truth_dim_out<Reduction::Any>, takes_native_at<0>>(m);
  native<"any.dims", &truth_dims<Reduction::Any>, takes_native_at<0>>(m);
  native<"any.dims_out", &truth_dims_out<Reduction::Any>, takes_native_at<0>>(
      m);
  native<"any.all_out", &truth_all_out<Reduction::Any>, takes_native_at<0>>(m);
  native<"all.out", &truth_dim_out<Reduction::All>, takes_native_at<0>>(m);
  native<"all.dims", &truth_dims<Reduction::All>, takes_native_at<0>>(m);
  native<"all.dims_out", &truth_dims_out<Reduction::All>, takes_native_at<0>>(
      m);
  native<"all.all_out", &truth_all_out<Reduction::All>, takes_native_at<0>>(m);
  native<"count_nonzero.dim_IntList", &count_nonzero, takes_native>(m);
  native<"linalg_vector_norm.out", &vector_norm_out, takes_native>(m);
  native<"norm.out", &norm_out, takes_native>(m);
  native<"norm.dtype_out", &norm_dtype_out, takes_native>(m);
  native<"logsumexp", &logsumexp, &takes_logsumexp>(m);
  native<"logsumexp.out", &logsumexp_out, takes_native>(m);
  m.impl("equal", &equal);
}

}  // namespace torch_webgpu::ops
