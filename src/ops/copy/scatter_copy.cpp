// copy_elements: the copy kernel for outputs that are dense in memory (a row
// of the pointwise family) and for those of any strides (a family here).
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/pointwise/pointwise.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::DType;
using wgsl::Mode;

// clang-format off
#define SCATTER_COPY_PARAMS(X) \
  X(u32x8, sizes) \
  X(u32x8, stride_a) \
  X(u32x8, stride_o) \
  X(u64, value_a) \
  X(u32, offset_a) \
  X(u32, offset_o) \
  X(u32, count) \
  X(u32, rank)
// clang-format on
WEBGPU_PARAMS(ScatterCopyParams, SCATTER_COPY_PARAMS);

struct ScatterCopyVariant {
  uint8_t from, to, mode;
};

wgsl::KernelText describe(const ScatterCopyVariant& v) {
  const auto from = static_cast<DType>(v.from);
  const auto to = static_cast<DType>(v.to);
  const auto mode = static_cast<Mode>(v.mode);
  wgsl::KernelText text;
  text.file = "scatter_copy";
  text.label = fmt::format("scatter_{}_{}_from_{}",
                           mode == Mode::Scalar ? "fill" : "copy",
                           wgsl::name_of(to), wgsl::name_of(from));
  text.compute = wgsl::compute_of(to);
  // Elements that share a word with others need atomics.
  const Mode write = wgsl::lanes_of(to) > 1 ? Mode::Scatter : Mode::Write;
  text.operands = {{"a", from, mode, 1, ""}, {"o", to, write, 1, ""}};
  text.substitutions = {{"convert", wgsl::conversion(from, to)},
                        {"workgroup", std::to_string(kWorkgroup)}};
  text.params = ScatterCopyParams::wgsl();
  return text;
}

std::vector<ScatterCopyVariant> enumerate() {
  std::vector<ScatterCopyVariant> all;
  for (const DType to : wgsl::kAllDTypes) {
    for (const DType from : wgsl::kAllDTypes) {
      all.push_back({uint8_t(from), uint8_t(to), uint8_t(Mode::Read)});
    }
    all.push_back({uint8_t(to), uint8_t(to), uint8_t(Mode::Scalar)});
  }
  return all;
}

Family<ScatterCopyVariant> family(describe, enumerate);

const OpId kCopy = register_pointwise(
    {.name = "copy",
     .inputs = 1,
     .expression = "a",
     .dtypes = {std::begin(wgsl::kAllDTypes), std::end(wgsl::kAllDTypes)},
     .casts = true});

void scatter_copy(const Input& input, const at::Tensor& out) {
  const auto by_halves = [&](int64_t dim) {
    for (const Half& half : halves({&input, 1}, out, dim)) {
      copy_elements(half.inputs[0], half.out);
    }
  };
  const DType to = wgsl::dtype_of(out.scalar_type());
  ScatterCopyVariant variant{uint8_t(to), uint8_t(to), uint8_t(Mode::Scalar)};
  ScatterCopyParams params;
  std::vector<at::Tensor> views{out};
  c10::SmallVector<hal::BufferBinding, 2> bindings;
  if (input.is_scalar()) {
    params.value_a = encode(input.scalar, to);
  } else {
    variant.from = uint8_t(wgsl::dtype_of(input.tensor.scalar_type()));
    variant.mode = uint8_t(Mode::Read);
    views.push_back(input.tensor.expand(out.sizes()));
    const auto bound = bind_view(input.tensor);
    if (!bound) return by_halves(widest_dim(views[1]));
    params.offset_a = uint32_t(input.tensor.storage_offset() - bound->first);
    bindings.push_back(bound->buffer);
  }
  const auto bound = bind_view(out);
  if (!bound) return by_halves(widest_dim(out));
  params.offset_o = uint32_t(out.storage_offset() - bound->first);
  bindings.push_back(bound->buffer);
  Geometry geometry;
  if (!make_geometry(views, geometry)) return by_halves(first_dim(out));
  params.count = uint32_t(out.numel());
  params.rank = uint32_t(geometry.rank);
  for (int d = 0; d < geometry.rank; ++d) {
    params.sizes[d] = uint32_t(geometry.sizes[d]);
    params.stride_o[d] = uint32_t(geometry.strides[0][d]);
    params.stride_a[d] = uint32_t(geometry.strides[1][d]);
  }
  launch_bindings(family(variant), bindings,
                  std::as_bytes(std::span(&params, 1)),
                  ceil_div(params.count, kWorkgroup));
}

}  // namespace

void copy_elements(const Input& input, const at::Tensor& out) {
  if (out.numel() == 0) return;
  at::assert_no_internal_overlap(out);
  if (!input.is_scalar() && same_buffer(input.tensor, out)) {
    const at::Tensor copy =
        at::empty(input.tensor.sizes(), input.tensor.options());
    copy_elements(input, copy);
    copy_elements(copy, out);
    return;
  }
  const DType dtype = wgsl::dtype_of(out.scalar_type());
  if (out.is_non_overlapping_and_dense()) {
    pointwise(kCopy, dtype, {&input, 1}, out);
  } else if (!pointwise_in_chunks(kCopy, dtype, {&input, 1}, out)) {
    scatter_copy(input, out);
  }
}

}  // namespace torch_webgpu::ops
