// copy_elements: the copy kernel for outputs that are dense in memory (a row
// of the pointwise family) and for those of any strides (a family here).
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include "hal/stream.h"
#include "ops/copy/transpose.h"
#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/pointwise/pointwise.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::DType;
using wgsl::Mode;

WEBGPU_PARAMS(ScatterCopyParams, (Walk, at), (u32x8, at_a), (u32x8, at_o),
              (u64, value_a), (u32, offset_a), (u32, offset_o), (u32, count));

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
  text.walks = {{"at", {"a", "o"}}};
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
  c10::SmallVector<const at::TensorBase*, 2> bound;
  if (input.is_scalar()) {
    params.value_a = encode(input.scalar, to);
  } else {
    variant.from = uint8_t(wgsl::dtype_of(input.tensor.scalar_type()));
    variant.mode = uint8_t(Mode::Read);
    views.push_back(input.tensor.expand(out.sizes()));
    if (windows_of(input.tensor) > 1) return by_halves(widest_dim(views[1]));
    params.offset_a = offset_of(input.tensor);
    bound.push_back(&input.tensor);
  }
  if (windows_of(out) > 1) return by_halves(widest_dim(out));
  params.offset_o = offset_of(out);
  bound.push_back(&out);
  Geometry geometry;
  if (!make_geometry(views, geometry)) return by_halves(first_dim(out));
  params.count = uint32_t(out.numel());
  for (int d = 0; d < geometry.rank; ++d) {
    params.at.add(uint32_t(geometry.sizes[d]));
    params.at_o[d] = uint32_t(geometry.strides[0][d]);
    params.at_a[d] = uint32_t(geometry.strides[1][d]);
  }
  launch_bytes(family(variant), bound, std::as_bytes(std::span(&params, 1)),
               ceil_div(params.count, kWorkgroup));
}

// Bytes that lie alike are copied as such; false when they do not.
bool buffer_copy(const at::Tensor& from, const at::Tensor& to) {
  const auto bytes = int64_t(to.nbytes());
  const auto item = to.element_size();
  const bool alike = from.sizes() == to.sizes() &&
                     from.strides() == to.strides() &&
                     to.is_non_overlapping_and_dense();
  const int64_t begin = from.storage_offset() * item;
  const int64_t end = to.storage_offset() * item;
  if (!alike || bytes % 4 != 0 || begin % 4 != 0 || end % 4 != 0) {
    return false;
  }
  as_torch([&] {
    device().stream().copy(buffer_of(from), uint64_t(begin), buffer_of(to),
                           uint64_t(end), uint64_t(bytes));
  });
  return true;
}

bool copy_turned(const at::Tensor& from, const at::Tensor& to) {
  return from.dim() > 1 && to.numel() >= 1024 &&
         transpose_copy(from.expand(to.sizes()), to);
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
  if (!input.is_scalar() && input.tensor.scalar_type() == out.scalar_type() &&
      (buffer_copy(input.tensor, out) || copy_turned(input.tensor, out))) {
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
