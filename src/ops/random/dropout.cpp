#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <tuple>

#include "ops/kernel/family.h"
#include "ops/kernel/profile.h"
#include "ops/pointwise/promote.h"
#include "ops/random/random_parts.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using wgsl::DType;
using wgsl::Mode;
using wgsl::Width;

WEBGPU_PARAMS(DropoutParams, (u64, seed), (u64, offset), (u64, keep),
              (f32, scale), (u32, offset_a), (u32, offset_o), (u32, offset_m),
              (u32, count), (u32, blocks), (u32, share));

struct Variant {
  uint16_t dtype, workgroup;
};

wgsl::KernelText describe(const Variant& v) {
  wgsl::KernelText text;
  text.file = "dropout";
  const auto dtype = static_cast<DType>(v.dtype);
  text.label = fmt::format("dropout_{}_x{}", wgsl::name_of(dtype), v.workgroup);
  text.operands = {{"a", dtype, Mode::Read, 1, "", Width::Quad},
                   {"o", dtype, Mode::Write, 1, "", Width::Quad},
                   {"m", DType::Bool, Mode::Write, 1, "", Width::Quad}};
  text.substitutions = {{"workgroup", std::to_string(v.workgroup)}};
  text.params = DropoutParams::wgsl();
  return text;
}

std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  for (const DType dtype : wgsl::kFloats)
    all.push_back({uint16_t(dtype), 64});
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
  const auto flags = input.options().dtype(at::kBool);
  if (!train.value_or(true)) {
    return {input.clone(), at::ones_like(input, flags)};
  }
  TORCH_CHECK(p >= 0 && p <= 1,
              "dropout probability has to be between 0 and 1, but got ", p);
  Tensor a = input.is_non_overlapping_and_dense() ? input : input.contiguous();
  if (a.storage_offset() % 4 != 0) a = a.clone();
  Tensor out = at::empty_like(a);
  Tensor mask = at::empty_like(a, flags);
  const PhiloxState state =
      reserve_philox(std::nullopt, counters_for(a.numel()));
  DropoutParams params;
  params.seed = words_of(state.seed);
  params.keep = threshold_of(1 - p);
  params.scale = float(scale_of(p));
  const Profile& adapter = profile();
  const hal::Kernel& kernel =
      family({uint16_t(wgsl::dtype_of(a.scalar_type())), adapter.workgroup});
  for_parts(draws_of(a.numel(), 3), {&a, &out, &mask}, [&](const Part& part) {
    params.offset = words_of(state.offset + counters_for(int64_t(part.begin)));
    const Tensor &from = part.tensors[0], &to = part.tensors[1],
                 &kept = part.tensors[2];
    params.offset_a = offset_of(from);
    params.offset_o = offset_of(to);
    params.offset_m = offset_of(kept);
    params.count = uint32_t(part.count);
    params.blocks = uint32_t(counters_for(int64_t(part.count)));
    params.share = adapter.rounds(params.blocks);
    launch(kernel, {&from, &to, &kept}, params,
           ceil_div(params.blocks, uint64_t(params.share) * adapter.workgroup));
  });
  return {std::move(out), std::move(mask)};
}

Tensor native_dropout_backward(const Tensor& grad, const Tensor& mask,
                               double scale) {
  // Anything but floating-point numbers is promoted.
  if (!is_native_float(grad) || mask.scalar_type() != at::kBool) {
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
  native<"native_dropout", &native_dropout, takes_floats>(m);
  m.impl("native_dropout_backward", &native_dropout_backward);
}

}  // namespace torch_webgpu::ops
