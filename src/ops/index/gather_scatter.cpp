// scatter, scatter_add, scatter_reduce, index_add, index_copy, index_fill and
// put_: elements written by way of an index.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/ScatterGatherChecks.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <limits>

#include "ops/index/indexed.h"
#include "ops/index/scatter.h"
#include "ops/kernel/dtype.h"
#include "ops/runtime/fallback.h"
#include "ops/runtime/native.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {

using at::Scalar;
using at::Tensor;

void combine_into(const Tensor& self, MakeIndexing make, const Tensor& values,
                  Combine combine) {
  const auto type = self.scalar_type();
  if (combine != Combine::Assign &&
      (type == at::kHalf || type == at::kBFloat16)) {
    const Tensor wide = self.to(at::kFloat);
    indexed_write(wide, make(wide), values.to(at::kFloat), combine);
    self.copy_(wide);
    return;
  }
  indexed_write(self, make(self), values, combine);
}

namespace {

Tensor at_least_1d(const Tensor& t) {
  return t.dim() == 0 ? t.unsqueeze(0) : t;
}

// A number as a tensor of no dimensions.
Tensor on_device(const Scalar& value, const Tensor& like) {
  return at::full({}, value, like.options());
}

// What the reduction gives without any element.
Scalar identity(Combine combine, at::ScalarType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool floating = at::isFloatingType(type);
  int64_t low = 0, high = 1;  // bool
  switch (type) {
    case at::kByte:
      high = 255;
      break;
    case at::kChar:
      low = -128, high = 127;
      break;
    case at::kShort:
      low = -32768, high = 32767;
      break;
    case at::kInt:
      low = std::numeric_limits<int32_t>::min();
      high = std::numeric_limits<int32_t>::max();
      break;
    case at::kLong:
      low = std::numeric_limits<int64_t>::min();
      high = std::numeric_limits<int64_t>::max();
      break;
    default:
      break;
  }
  switch (combine) {
    case Combine::Multiply:
      return 1;
    case Combine::Minimum:
      return floating ? Scalar(kInfinity) : Scalar(high);
    case Combine::Maximum:
      return floating ? Scalar(-kInfinity) : Scalar(low);
    default:
      return 0;
  }
}

Combine parse_reduce(std::string_view reduce) {
  if (reduce == "add" || reduce == "sum" || reduce == "mean") {
    return Combine::Add;
  }
  if (reduce == "multiply" || reduce == "prod") return Combine::Multiply;
  if (reduce == "amax") return Combine::Maximum;
  if (reduce == "amin") return Combine::Minimum;
  TORCH_CHECK(false,
              "scatter: reduce must be add, multiply, sum, prod, mean, "
              "amax or amin, but is ",
              reduce);
}

// out becomes self; the operators then write into out.
void start_from(const char* name, const Tensor& self, const Tensor& out) {
  TORCH_CHECK(self.scalar_type() == out.scalar_type(), name,
              ": expected out to have dtype ", self.scalar_type(), ", but got ",
              out.scalar_type());
  if (out.is_same(self)) return;
  resize_out(out, self.sizes());
  out.copy_(self);
}

// The part of src that index covers.
Tensor covered(const Tensor& src, const Tensor& index) {
  return src.as_strided(index.sizes(), src.strides(), src.storage_offset());
}

void check_not_empty(const char* name, const Tensor& self, int64_t dim,
                     const Tensor& index) {
  TORCH_CHECK_INDEX(self.size(dim) != 0 || index.numel() == 0, name,
                    ": index is out of range for dimension ", dim,
                    ", which has no elements");
}

void scatter_into(const char* name, const Tensor& self, int64_t dim_,
                  const Tensor& index_, const Tensor& src_, const Scalar& value,
                  Combine combine) {
  const std::optional<Tensor> source =
      src_.defined() ? std::optional(src_) : std::nullopt;
  const int64_t dim = at::maybe_wrap_dim(dim_, self.dim());
  at::native::scatter_gather_dtype_check(name, self, index_, source);
  at::native::scatter_shape_check(self, dim, index_, source);
  if (index_.numel() == 0) return;
  const Tensor index = at_least_1d(index_);
  const Tensor values = src_.defined() ? covered(at_least_1d(src_), index)
                                       : on_device(value, self);
  check_not_empty(name, at_least_1d(self), dim, index);
  combine_into(
      at_least_1d(self),
      [&](const Tensor& t) { return along_dim(name, t, dim, index); }, values,
      combine);
}

Tensor& scatter_src_out(const Tensor& self, int64_t dim, const Tensor& index,
                        const Tensor& src, Tensor& out) {
  start_from("scatter", self, out);
  scatter_into("scatter", out, dim, index, src, 0, Combine::Assign);
  return out;
}

Tensor& scatter_value_out(const Tensor& self, int64_t dim, const Tensor& index,
                          const Scalar& value, Tensor& out) {
  start_from("scatter", self, out);
  scatter_into("scatter", out, dim, index, Tensor(), value, Combine::Assign);
  return out;
}

Tensor& scatter_reduce_out(const Tensor& self, int64_t dim, const Tensor& index,
                           const Tensor& src, std::string_view reduce,
                           Tensor& out) {
  TORCH_CHECK(reduce == "add" || reduce == "multiply",
              "scatter: reduce must be either add or multiply, but is ",
              reduce);
  start_from("scatter", self, out);
  scatter_into("scatter", out, dim, index, src, 0, parse_reduce(reduce));
  return out;
}

Tensor& scatter_value_reduce_out(const Tensor& self, int64_t dim,
                                 const Tensor& index, const Scalar& value,
                                 std::string_view reduce, Tensor& out) {
  TORCH_CHECK(reduce == "add" || reduce == "multiply",
              "scatter: reduce must be either add or multiply, but is ",
              reduce);
  start_from("scatter", self, out);
  scatter_into("scatter", out, dim, index, Tensor(), value,
               parse_reduce(reduce));
  return out;
}

Tensor& scatter_add_out(const Tensor& self, int64_t dim, const Tensor& index,
                        const Tensor& src, Tensor& out) {
  start_from("scatter_add", self, out);
  scatter_into("scatter_add", out, dim, index, src, 0, Combine::Add);
  return out;
}

// out /= the number of elements that were added up in each place.
void divide_by_counts(const Tensor& out, const Tensor& counts) {
  counts.clamp_min_(1);
  if (at::isFloatingType(out.scalar_type())) {
    out.div_(counts);
  } else {
    out.div_(counts, "floor");
  }
}

Tensor& scatter_reduce_two_out(const Tensor& self, int64_t dim,
                               const Tensor& index, const Tensor& src,
                               std::string_view reduce, bool include_self,
                               Tensor& out) {
  const Combine combine = parse_reduce(reduce);
  const auto type = self.scalar_type();
  start_from("scatter_reduce", self, out);
  if (!include_self) {
    scatter_into("scatter_reduce", out, dim, index, Tensor(),
                 identity(combine, type), Combine::Assign);
  }
  scatter_into("scatter_reduce", out, dim, index, src, 0, combine);
  if (reduce == "mean") {
    const bool floating = at::isFloatingType(type);
    // Counts must not round: half types have too few digits.
    const auto options = out.options().dtype(floating ? at::kFloat : type);
    const Tensor counts = at::full(out.sizes(), include_self ? 1 : 0, options);
    scatter_into("scatter_reduce", counts, dim, index, Tensor(), 1,
                 Combine::Add);
    divide_by_counts(out, counts);
  }
  return out;
}

void check_rows(const char* name, const Tensor& self, int64_t dim,
                const Tensor& index, const Tensor& source) {
  TORCH_CHECK_INDEX(index.dim() <= 1, name,
                    ": expected an index of one dimension, but got one of ",
                    index.dim());
  TORCH_CHECK(self.scalar_type() == source.scalar_type(), name,
              ": self and source must have the same dtype, but got ",
              self.scalar_type(), " and ", source.scalar_type());
  const Tensor rows = at_least_1d(source);
  TORCH_CHECK_INDEX(rows.dim() == self.dim() || source.dim() == 0, name,
                    ": source has ", source.dim(), " dimensions, but self has ",
                    self.dim());
  TORCH_CHECK_INDEX(
      rows.size(rows.dim() == self.dim() ? dim : 0) == index.numel(), name,
      ": index has ", index.numel(), " elements, but source has sizes ",
      source.sizes(), " (dimension ", dim, ")");
  for (int64_t d = 0; d < self.dim() && rows.dim() == self.dim(); ++d) {
    TORCH_CHECK(d == dim || self.size(d) == rows.size(d), name,
                ": source and self must have the same sizes except at "
                "dimension ",
                dim, ", but have ", source.sizes(), " and ", self.sizes());
  }
}

void write_rows(const char* name, const Tensor& out, int64_t dim_,
                const Tensor& index, const Tensor& source, Combine combine) {
  const int64_t dim = at::maybe_wrap_dim(dim_, out.dim());
  const Tensor self = at_least_1d(out);
  check_rows(name, self, dim, index, source);
  check_not_empty(name, self, dim, index);
  combine_into(
      self,
      [&](const Tensor& t) { return along_dim_rows(name, t, dim, index); },
      at_least_1d(source), combine);
}

Tensor& index_add_out(const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& source, const Scalar& alpha, Tensor& out) {
  const bool scaled = alpha.toComplexDouble() != 1.0;
  const Tensor rows = scaled ? at::mul(source, alpha) : source;
  start_from("index_add", self, out);
  write_rows("index_add", out, dim, index, rows, Combine::Add);
  return out;
}

Tensor& index_copy_out(const Tensor& self, int64_t dim, const Tensor& index,
                       const Tensor& source, Tensor& out) {
  start_from("index_copy", self, out);
  write_rows("index_copy", out, dim, index, source, Combine::Assign);
  return out;
}

Tensor& index_fill_tensor_(Tensor& self, int64_t dim_, const Tensor& index,
                           const Tensor& value) {
  TORCH_CHECK(value.dim() == 0,
              "index_fill_: the value must be a scalar, but has ", value.dim(),
              " dimensions");
  TORCH_CHECK_INDEX(index.dim() <= 1,
                    "index_fill_: expected an index of one dimension, but got "
                    "one of ",
                    index.dim());
  const int64_t dim = at::maybe_wrap_dim(dim_, self.dim());
  const Tensor out = at_least_1d(self);
  check_not_empty("index_fill_", out, dim, index);
  Indexing indexing = along_dim_rows("index_fill_", out, dim, index);
  indexing.wraps = true;
  indexed_write(out, indexing, value.to(self.options()), Combine::Assign);
  return self;
}

Tensor& index_fill_scalar_(Tensor& self, int64_t dim, const Tensor& index,
                           const Scalar& value) {
  TORCH_CHECK(!value.isComplex() || at::isComplexType(self.scalar_type()),
              "index_fill_: a complex value cannot fill a tensor of dtype ",
              self.scalar_type());
  return index_fill_tensor_(self, dim, index, on_device(value, self));
}

Tensor& put_(Tensor& self, const Tensor& index, const Tensor& source,
             bool accumulate) {
  TORCH_CHECK_INDEX(index.scalar_type() == at::kLong,
                    "put_: expected an index of dtype int64, but got ",
                    index.scalar_type());
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "put_: self and source must have the same dtype, but got ",
              self.scalar_type(), " and ", source.scalar_type());
  TORCH_CHECK_INDEX(source.numel() == index.numel(), "put_: source has ",
                    source.numel(), " elements, but index has ", index.numel());
  TORCH_CHECK_INDEX(self.numel() != 0 || index.numel() == 0,
                    "put_: tried to put elements into an empty tensor");
  if (accumulate && !is_native(self)) {
    const Tensor result =
        cpu_call("aten::put", "", {self, index, source, accumulate})[0]
            .toTensor();
    return self.copy_(result);
  }
  const Tensor whole = self.contiguous();
  const Tensor flat_index = index.reshape({-1});
  combine_into(
      whole.view({-1}),
      [&](const Tensor& t) {
        Indexing indexing = along_dim("put_", t, 0, flat_index);
        indexing.wraps = true;
        return indexing;
      },
      source.reshape({-1}), accumulate ? Combine::Add : Combine::Assign);
  if (!whole.is_same(self)) self.copy_(whole);
  return self;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("scatter.src_out", &scatter_src_out);
  m.impl("scatter.value_out", &scatter_value_out);
  native<"scatter.reduce_out", &scatter_reduce_out, takes_native_at<0>>(m);
  native<"scatter.value_reduce_out", &scatter_value_reduce_out,
         takes_native_at<0>>(m);
  native<"scatter_add.out", &scatter_add_out, takes_native_at<0>>(m);
  native<"scatter_reduce.two_out", &scatter_reduce_two_out, takes_native_at<0>>(
      m);
  native<"index_add.out", &index_add_out, takes_native_at<0>>(m);
  m.impl("index_copy.out", &index_copy_out);
  m.impl("index_fill_.int_Scalar", &index_fill_scalar_);
  m.impl("index_fill_.int_Tensor", &index_fill_tensor_);
  m.impl("put_", &put_);
}

}  // namespace torch_webgpu::ops
