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

void check_requested_dtype(const Tensor& out, std::optional<ScalarType> dtype) {
  if (dtype) check_result_dtype(out, *dtype);
}

Tensor& sum_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                std::optional<ScalarType> dtype, Tensor& out) {
  if (!is_native(self) || !is_native(out)) {
    cpu_call("aten::sum", "IntList_out", {self, dim, keepdim, dtype, out});
    return out;
  }
  check_requested_dtype(out, dtype);
  const DimMask dims = reduced_dims(self, dim);
  resize_result(out, reduced_shape(self, dims, keepdim));
  reduce(Reduction::Sum, self, dims, out);
  return out;
}

Tensor& nansum_out(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype, Tensor& out) {
  if (!is_native(self) || !is_native(out)) {
    cpu_call("aten::nansum", "out", {self, dim, keepdim, dtype, out});
    return out;
  }
  if (at::isIntegralType(self.scalar_type(), /*includeBool=*/true)) {
    return sum_out(self, dim, keepdim, dtype, out);
  }
  check_requested_dtype(out, dtype);
  const DimMask dims = reduced_dims(self, dim);
  resize_result(out, reduced_shape(self, dims, keepdim));
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
  if (!is_native(self) || !is_native(out)) {
    cpu_call("aten::mean", "out", {self, dim, keepdim, dtype, out});
    return out;
  }
  check_requested_dtype(out, dtype);
  TORCH_CHECK(at::isFloatingType(out.scalar_type()),
              "mean(): could not infer output dtype. Optional dtype must be "
              "either a floating point or complex dtype. Got: ",
              out.scalar_type());
  const DimMask dims = reduced_dims(self, dim);
  resize_result(out, reduced_shape(self, dims, keepdim));
  reduce(Reduction::Mean, self, dims, out, {},
         {.divisor = double(reduced_count(self, dims))});
  return out;
}

Tensor& prod_out(const Tensor& self, int64_t dim, bool keepdim,
                 std::optional<ScalarType> dtype, Tensor& out) {
  if (!is_native(self) || !is_native(out)) {
    cpu_call("aten::prod", "int_out", {self, dim, keepdim, dtype, out});
    return out;
  }
  check_requested_dtype(out, dtype);
  const DimMask dims = reduced_dims(self, at::IntArrayRef(dim));
  resize_result(out, reduced_shape(self, dims, keepdim));
  reduce(Reduction::Prod, self, dims, out);
  return out;
}

Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) {
  const ScalarType type = summed_type(self, dtype);
  if (!is_native(self) || !wgsl::has_dtype(type)) {
    return cpu_call("aten::prod", "", {self, dtype})[0].toTensor();
  }
  Tensor out = at::empty({}, self.options().dtype(type));
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
  resize_result(out, reduced_shape(self, dims, keepdim));
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
  if (!is_native(self)) {
    cpu_call(kTruthName<op>, "out", {self, dim, keepdim, out});
    return out;
  }
  truth(op, kTruthName<op>, self, reduced_dims(self, at::IntArrayRef(dim)),
        keepdim, out);
  return out;
}

template <Reduction op>
Tensor& truth_dims_out(const Tensor& self, OptionalIntArrayRef dim,
                       bool keepdim, Tensor& out) {
  if (!is_native(self)) {
    cpu_call(kTruthName<op>, "dims_out", {self, dim, keepdim, out});
    return out;
  }
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
  if (!is_native(self)) {
    cpu_call(kTruthName<op>, "all_out", {self, out});
    return out;
  }
  truth(op, kTruthName<op>, self, reduced_dims(self, std::nullopt), false, out);
  return out;
}

Tensor count_nonzero(const Tensor& self, at::IntArrayRef dim) {
  if (!is_native(self)) {
    return cpu_call("aten::count_nonzero", "dim_IntList", {self, dim})[0]
        .toTensor();
  }
  const DimMask dims = reduced_dims(self, dim);
  Tensor out = at::empty(reduced_shape(self, dims, false),
                         self.options().dtype(at::kLong));
  reduce(Reduction::CountNonzero, self, dims, out);
  return out;
}

Tensor& vector_norm_out(const Tensor& self, const at::Scalar& ord,
                        OptionalIntArrayRef dim, bool keepdim,
                        std::optional<ScalarType> dtype, Tensor& out) {
  if (!is_native(self) || !is_native(out)) {
    cpu_call("aten::linalg_vector_norm", "out",
             {self, ord, dim, keepdim, dtype, out});
    return out;
  }
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
  resize_result(out, reduced_shape(self, dims, keepdim));
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
  if (!is_native(self) || !is_native(out)) {
    cpu_call("aten::logsumexp", "out", {self, dim, keepdim, out});
    return out;
  }
  TORCH_CHECK(at::isFloatingType(out.scalar_type()),
              "logsumexp(): Expected floating point type for result tensor, "
              "but got: ",
              out.scalar_type());
  const DimMask dims = reduced_dims(self, dim);
  resize_result(out, reduced_shape(self, dims, keepdim));
  reduce(Reduction::LogSumExp, self, dims, out);
  return out;
}

Tensor logsumexp(const Tensor& self, at::IntArrayRef dim, bool keepdim) {
  const bool integral =
      at::isIntegralType(self.scalar_type(), /*includeBool=*/true);
  Tensor out =
      at::empty(reduced_shape(self, reduced_dims(self, dim), keepdim),
                integral ? self.options().dtype(c10::get_default_dtype())
                         : self.options());
  return logsumexp_out(self, dim, keepdim, out);
}

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
  m.impl("sum.IntList_out", &sum_out);
  m.impl("nansum", &nansum);
  m.impl("nansum.out", &nansum_out);
  m.impl("mean.out", &mean_out);
  m.impl("prod.int_out", &prod_out);
  m.impl("prod", &prod);
  m.impl("any.out", &truth_dim_out<Reduction::Any>);
  m.impl("any.dims", &truth_dims<Reduction::Any>);
  m.impl("any.dims_out", &truth_dims_out<Reduction::Any>);
  m.impl("any.all_out", &truth_all_out<Reduction::Any>);
  m.impl("all.out", &truth_dim_out<Reduction::All>);
  m.impl("all.dims", &truth_dims<Reduction::All>);
  m.impl("all.dims_out", &truth_dims_out<Reduction::All>);
  m.impl("all.all_out", &truth_all_out<Reduction::All>);
  m.impl("count_nonzero.dim_IntList", &count_nonzero);
  m.impl("linalg_vector_norm.out", &vector_norm_out);
  m.impl("norm.out", &norm_out);
  m.impl("norm.dtype_out", &norm_dtype_out);
  m.impl("logsumexp", &logsumexp);
  m.impl("logsumexp.out", &logsumexp_out);
  m.impl("equal", &equal);
}

}  // namespace torch_webgpu::ops
