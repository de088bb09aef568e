#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <tuple>

#include "ops/kernel/family.h"
#include "ops/pointwise/promote.h"
#include "ops/random/random_parts.h"
#include "ops/runtime/fallback.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using wgsl::DType;
using wgsl::Mode;

// clang-format off
#define DROPOUT_PARAMS(X) \
  X(u64, seed) \
  X(u64, offset) \
  X(u64, keep) \
  X(f32, scale) \
  X(u32, offset_a) \
  X(u32, offset_o) \
  X(u32, offset_m) \
  X(u32, count) \
  X(u32, threads)
// clang-format on
WEBGPU_PARAMS(DropoutParams, DROPOUT_PARAMS);

struct Variant {
  DType dtype;
};

wgsl::KernelText describe(const Variant& v) {
  wgsl::KernelText text;
  text.file = "dropout";
  text.label = fmt::format("dropout_{}", wgsl::name_of(v.dtype));
  text.operands = {{"a", v.dtype, Mode::Read, 1, ""},
                   {"o", v.dtype, Mode::Write, 1, ""},
                   {"m", DType::Bool, Mode::Write, 1, ""}};
  text.substitutions = {{"workgroup", std::to_string(kWorkgroup)}};
  text.params = DropoutParams::wgsl();
  return text;
}

std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  for (const DType dtype : wgsl::kFloats)
    all.push_back({dtype});
  return all;
}

Family<Variant> family(describe, enumerate);

const OpId kMaskedScale = register_pointwise(
    {.name = "masked_scale",
     .inputs = 2,
     .expression = "a * select(0.0, s0, b != 0u)",
     .dtypes = {std::begin(wgsl::kFloats), std::end(wgsl::kFloats)},
     .scalars = 1,
     .mask = 1});

double scale_of(double p) {
  return p == 1 ? 0 : 1 / (1 - p);
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p,
                                          std::optional<bool> train) {
  if (!have_floats({&input, 1})) {
    const auto results =
        cpu_call("aten::native_dropout", "", {input, p, train});
    return {results[0].toTensor(), results[1].toTensor()};
  }
  const auto flags = input.options().dtype(at::kBool);
  if (!train.value_or(true)) {
    return {input.clone(), at::ones_like(input, flags)};
  }
  TORCH_CHECK(p >= 0 && p <= 1,
              "dropout probability has to be between 0 and 1, but got ", p);
  const Tensor a =
      input.is_non_overlapping_and_dense() ? input : input.contiguous();
  Tensor out = at::empty_like(a);
  Tensor mask = at::empty_like(a, flags);
  const PhiloxState state =
      reserve_philox(std::nullopt, counters_for(a.numel()));
  DropoutParams params;
  params.seed = words_of(state.seed);
  params.keep = threshold_of(1 - p);
  params.scale = float(scale_of(p));
  const hal::Kernel& kernel = family({wgsl::dtype_of(a.scalar_type())});
  for_parts({&a, &out, &mask}, [&](Part& part) {
    params.offset = words_of(state.offset + part.counter);
    params.offset_a = part.offsets[0];
    params.offset_o = part.offsets[1];
    params.offset_m = part.offsets[2];
    params.count = uint32_t(part.count);
    params.threads = uint32_t(counters_for(part.count));
    launch_bindings(kernel, part.bindings, std::as_bytes(std::span(&params, 1)),
                    ceil_div(params.threads, kWorkgroup));
  });
  return {std::move(out), std::move(mask)};
}

Tensor native_dropout_backward(const Tensor& grad, const Tensor& mask,
                               double scale) {
  // Anything but floating-point numbers is promoted.
  if (!have_floats({&grad, 1}) || mask.scalar_type() != at::kBool) {
    return grad.mul(mask).mul(scale);
  }
  Tensor out = at::empty_like(grad);
  const Input inputs[] = {grad, mask};
  pointwise(kMaskedScale, wgsl::dtype_of(grad.scalar_type()), inputs, out,
            {scale});
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("native_dropout", &native_dropout);
  m.impl("native_dropout_backward", &native_dropout_backward);
}

}  // namespace torch_webgpu::ops
