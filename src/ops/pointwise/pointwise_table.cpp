// The rows of the pointwise family, and scalars as their parameters.
#include <algorithm>

#include "ops/pointwise/pointwise.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::Compute;
using wgsl::DType;

std::vector<PointwiseOp>& table() {
  static auto* rows = new std::vector<PointwiseOp>;
  return *rows;
}

}  // namespace

bool pointwise_has(OpId id) {
  return id < table().size();
}

OpId register_pointwise(PointwiseOp op) {
  // Operators that compute the same share their kernels (sign and sgn).
  for (OpId id = 0; id < table().size(); ++id) {
    PointwiseOp& known = table()[id];
    if (known.inputs != op.inputs || known.result != op.result ||
        known.scalars != op.scalars || known.mask != op.mask ||
        known.casts != op.casts ||
        std::string_view(known.expression) != op.expression) {
      continue;
    }
    for (const DType dtype : op.dtypes) {
      if (std::ranges::find(known.dtypes, dtype) == known.dtypes.end()) {
        known.dtypes.push_back(dtype);
      }
    }
    return id;
  }
  table().push_back(std::move(op));
  return OpId(table().size() - 1);
}

OpId register_floats(const char* name, uint8_t inputs, uint8_t scalars,
                     const char* expression) {
  return register_pointwise(
      {.name = name,
       .inputs = inputs,
       .expression = expression,
       .dtypes = {std::begin(wgsl::kFloats), std::end(wgsl::kFloats)},
       .scalars = scalars});
}

const PointwiseOp& pointwise_op(OpId id) {
  return table().at(id);
}

wgsl::params::u64 encode(const c10::Scalar& scalar, DType dtype) {
  switch (wgsl::compute_of(dtype)) {
    case Compute::F32: {
      // Out-of-range numbers become infinite, as a cast on the CPU does.
      const auto value = static_cast<float>(scalar.toDouble());
      return {std::bit_cast<uint32_t>(value), 0};
    }
    case Compute::U32:
      if (dtype == DType::Bool) return {uint32_t(scalar.toBool()), 0};
      return {
          uint32_t(uint8_t(scalar.isFloatingPoint() ? int64_t(scalar.toDouble())
                                                    : scalar.toLong())),
          0};
    default: {
      const int64_t value = scalar.isFloatingPoint()
                                ? static_cast<int64_t>(scalar.toDouble())
                                : scalar.toLong();
      return wgsl::params::words_of(uint64_t(value));
    }
  }
}

}  // namespace torch_webgpu::ops
