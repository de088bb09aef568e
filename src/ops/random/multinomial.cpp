// Samples of categories. One sample, or samples without replacement, are the
// largest quotients of weights and exponential numbers, as torch has it;
// samples with replacement are searched for among the cumulative weights.
#include <ATen/TensorOperators.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/multinomial_native.h>
#include <torch/library.h>

#include <limits>

#include "ops/kernel/family.h"
#include "ops/random/random_parts.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using wgsl::DType;
using wgsl::Mode;
using OptionalGenerator = std::optional<at::Generator>;

struct Variant {
  uint8_t windows_a;
  uint8_t windows_o;
  static constexpr uint8_t Variant::* kWindows[] = {&Variant::windows_a,
                                                    &Variant::windows_o};
};

WEBGPU_PARAMS(MultinomialParams, (u64, seed), (u64, offset), (u32, categories),
              (u32, samples), (u32, count), (u32, threads));

wgsl::KernelText describe(const Variant& v) {
  wgsl::KernelText text;
  text.file = "multinomial";
  text.label = "multinomial";
  if (v.windows_a * v.windows_o != 1) {
    text.label +=
        "_w" + std::to_string(v.windows_a) + std::to_string(v.windows_o);
  }
  text.operands = {{"a", DType::F32, Mode::Read, v.windows_a, ""},
                   {"o", DType::I64, Mode::Write, v.windows_o, ""}};
  text.substitutions = {{"workgroup", std::to_string(kWorkgroup)}};
  text.params = MultinomialParams::wgsl();
  return text;
}

std::vector<Variant> enumerate() {
  return {{1, 1}};
}

Family<Variant> family(describe, enumerate);

void check_weights(const Tensor& weights, const Tensor& totals) {
  const Tensor finite =
      (weights.max() < std::numeric_limits<double>::infinity()) &
      (weights.min() >= 0);
  const Tensor positive = (totals > 0).all();
  if ((finite & positive).item<bool>()) return;
  TORCH_CHECK(finite.item<bool>(),
              "probability tensor contains either `inf`, `nan` or element < 0");
  TORCH_CHECK(false,
              "invalid multinomial distribution (sum of probabilities <= 0)");
}

void with_replacement(Tensor& result, const Tensor& self, int64_t samples,
                      OptionalGenerator generator) {
  if (result.numel() == 0) return;
  const Tensor weights = self.to(at::kFloat);
  const Tensor sums = weights.cumsum(-1).contiguous();
  check_weights(weights, sums.select(-1, -1));
  const Tensor out = at::empty(result.sizes(), result.options());
  const uint64_t counters = counters_for(out.numel());
  const PhiloxState state = reserve_philox(generator, counters);
  MultinomialParams p;
  p.seed = words_of(state.seed);
  p.offset = words_of(state.offset);
  p.categories = uint32_t(self.size(-1));
  p.samples = uint32_t(samples);
  p.count = uint32_t(out.numel());
  p.threads = uint32_t(counters);
  launch(family({windows_of(sums), windows_of(out)}), {&sums, &out}, p,
         ceil_div(counters, kWorkgroup));
  result.copy_(out);
}

Tensor& multinomial_out(const Tensor& self, int64_t samples, bool replacement,
                        OptionalGenerator generator, Tensor& out) {
  return at::native::multinomial_out(self, samples, replacement,
                                     std::move(generator), out);
}

Tensor multinomial(const Tensor& self, int64_t samples, bool replacement,
                   OptionalGenerator generator) {
  Tensor out = at::empty({0}, self.options().dtype(at::kLong));
  return multinomial_out(self, samples, replacement, std::move(generator), out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"multinomial", &multinomial, takes_floats_at<0>>(m);
  native<"multinomial.out", &multinomial_out, takes_floats_at<0>>(m);
}

}  // namespace torch_webgpu::ops

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(multinomial_with_replacement_stub,
                              &torch_webgpu::ops::with_replacement)
}  // namespace at::native
