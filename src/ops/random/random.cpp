// Random numbers. A seed gives the same numbers on every adapter and
// implementation up to the last bits of elementary functions, and others than
// on the CPU. Elements are numbered in the tensor's own order: its layout does
// not change their values.
#define AT_PER_OPERATOR_HEADERS  // for the templates, which else take all of it
#include <ATen/native/DistributionTemplates.h>
#include <ATen/ops/empty.h>
#include <c10/util/BFloat16-math.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <cfloat>
#include <cmath>
#include <utility>

#include "ops/kernel/family.h"
#include "ops/kernel/profile.h"
#include "ops/pointwise/promote.h"
#include "ops/random/random_parts.h"
#include "ops/runtime/fallback.h"
#include "ops/runtime/faults.h"
#include "ops/runtime/native.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::ScalarType;
using at::Tensor;
using wgsl::DType;
using wgsl::Mode;
using OptionalGenerator = std::optional<at::Generator>;

enum class Distribution : uint8_t {
  Uniform,
  Normal,
  LogNormal,
  Exponential,
  Cauchy,
  Geometric,
  Bernoulli,
  BernoulliEach,  // of a tensor of probabilities
  Integer,
};

struct Row {
  const char* name;
  std::span<const DType> dtypes;
  const char* drawn;         // four of anything, from `bits`
  const char* value;         // element `e` of `x`, one of the four
  const char* type = "u32";  // of `x`
};

// In the order of Distribution.
constexpr Row kRows[] = {
    {"uniform", wgsl::kFloats, "bits",
     "clamp(uniform_of(x) * p.b + p.a, p.low, p.high)"},
    {"normal", wgsl::kFloats, "normals_of(bits)", "x * p.b + p.a", "f32"},
    {"log_normal", wgsl::kFloats, "normals_of(bits)", "m_exp(x * p.b + p.a)",
     "f32"},
    {"exponential", wgsl::kFloats, "bits",
     "clamp(m_log(open_uniform(x)) * p.a, p.low, p.high)"},
    {"cauchy", wgsl::kFloats, "bits", "cauchy_of(x) * p.b + p.a"},
    {"geometric", wgsl::kNumbers, "bits",
     "t_from_f32(clamp(ceil(m_log(open_uniform(x)) * p.a), p.low, p.high))"},
    {"bernoulli", wgsl::kAllDTypes, "bits",
     "t_from_bool(is_drawn(x, p.range))"},
    {"bernoulli_each", wgsl::kAllDTypes, "bits",
     "t_from_bool(uniform_of(x) < probability_of(e))"},
    {"random", wgsl::kAllDTypes, "bits",
     "t_from_i64(i64_add(p.start, scaled_u64(vec2<u32>(x, more), "
     "p.range)))"},
};

WEBGPU_PARAMS(RandomParams, (u64, seed), (u64, offset), (u64, start),
              (u64, range), (f32, a), (f32, b), (f32, low), (f32, high),
              (u32, offset_o), (u32, offset_a), (u32, count), (u32, blocks),
              (u32, share), (u32, bound), (u32, fault));

struct Variant {
  Distribution distribution;
  DType dtype;
  uint16_t workgroup;
};

wgsl::KernelText describe(const Variant& v) {
  const Row& row = kRows[size_t(v.distribution)];
  wgsl::KernelText text;
  text.file = "random";
  text.label =
      fmt::format("{}_{}_x{}", row.name, wgsl::name_of(v.dtype), v.workgroup);
  text.compute = wgsl::compute_of(v.dtype);
  text.operands = {{"o", v.dtype, Mode::Write, 1, "", wgsl::Width::Quad}};
  if (v.distribution == Distribution::BernoulliEach) {
    text.operands.push_back({"a", DType::F32, Mode::Read, 1, ""});
    text.operands.push_back({"f", DType::I32, Mode::Scatter, 1, ""});
  }
  const bool wide = v.distribution == Distribution::Integer;
  text.substitutions = {
      {"drawn", row.drawn},
      {"value", row.value},
      {"type", row.type},
      {"more", wide ? "random_block(block, 1u)" : "vec4<u32>()"},
      {"quad", wgsl::quad_type(text.compute)},
      {"workgroup", std::to_string(v.workgroup)}};
  text.params = RandomParams::wgsl();
  return text;
}

std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  for (size_t d = 0; d < std::size(kRows); ++d) {
    for (const DType dtype : kRows[d].dtypes)
      all.push_back({Distribution(d), dtype, 64});
  }
  return all;
}

Family<Variant> family(describe, enumerate);

bool have_kernel(Distribution distribution, ScalarType type) {
  // These draw the parts of complex numbers.
  if (distribution == Distribution::Uniform ||
      distribution == Distribution::Normal) {
    type = c10::toRealValueType(type);
  }
  const auto& dtypes = kRows[size_t(distribution)].dtypes;
  return wgsl::has_dtype(type) &&
         std::ranges::find(dtypes, wgsl::dtype_of(type)) != dtypes.end();
}

void fill(Distribution distribution, RandomParams p, const Tensor& out,
          const OptionalGenerator& generator,
          const Tensor* probabilities = {}) {
  TORCH_CHECK(out.device().is_privateuseone(), "Expected a '",
              out.device().type(), "' device type for generator but found '",
              at::kPrivateUse1, "'");
  at::assert_no_internal_overlap(out);
  const DType dtype = wgsl::dtype_of(out.scalar_type());
  if (!out.is_contiguous() || out.storage_offset() % 4 != 0) {
    const Tensor dense = at::empty(out.sizes(), out.options());
    fill(distribution, p, dense, generator, probabilities);
    out.copy_(dense);
    return;
  }
  const PhiloxState state =
      reserve_philox(generator, counters_for(out.numel()));
  p.seed = words_of(state.seed);
  const Profile& adapter = profile();
  const auto run = [&](const Part& part) {
    p.offset = words_of(state.offset + counters_for(int64_t(part.begin)));
    p.offset_o = offset_of(part.tensors[0]);
    p.count = uint32_t(part.count);
    p.blocks = uint32_t(counters_for(int64_t(part.count)));
    p.share = adapter.rounds(p.blocks);
    c10::SmallVector<const at::TensorBase*, 2> bound{&part.tensors[0]};
    if (probabilities) {
      p.offset_a = offset_of(part.tensors[1]);
      bound.push_back(&part.tensors[1]);
    }
    launch_bytes(family({distribution, dtype, adapter.workgroup}), bound,
                 std::as_bytes(std::span(&p, 1)),
                 ceil_div(p.blocks, uint64_t(p.share) * adapter.workgroup),
                 /*reports=*/probabilities != nullptr);
  };
  if (probabilities) {
    for_parts(draws_of(out.numel(), 2), {&out, probabilities}, run);
  } else {
    for_parts(draws_of(out.numel(), 1), {&out}, run);
  }
}

// The least and the greatest of T's numbers from `from` to below `to`: sums are
// rounded, also up to `to`. Only `from` if there is none.
template <class T>
std::pair<float, float> bounds_of(double from, double to) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  auto least = static_cast<T>(from), greatest = static_cast<T>(to);
  if (double(least) < from) least = std::nextafter(least, inf);
  if (double(greatest) >= to) greatest = std::nextafter(greatest, -inf);
  if (least > greatest) least = greatest = static_cast<T>(from);
  return {float(least), float(greatest)};
}

float finite(double value) {
  return float(std::clamp(value, -double(FLT_MAX), double(FLT_MAX)));
}

// The greatest number of the type that is a f32.
float greatest_of(ScalarType type) {
  float greatest = 0;
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, type, "random", [&] {
    using limits = std::numeric_limits<scalar_t>;
    greatest = limits::digits > 24 ? std::ldexp(1 - 0x1p-24f, limits::digits)
                                   : float(limits::max());
  });
  return greatest;
}

// The parameters for the numbers with which torch describes a distribution.
RandomParams params_of(Distribution distribution, ScalarType type, double a,
                       double b) {
  RandomParams p;
  p.a = float(a);
  p.b = float(b);
  switch (distribution) {
    case Distribution::Uniform:
      AT_DISPATCH_FLOATING_TYPES_AND2(
          at::kHalf, at::kBFloat16, type, "uniform_",
          [&] { std::tie(p.low, p.high) = bounds_of<scalar_t>(a, b); });
      p.b = float(b - a);
      break;
    case Distribution::Exponential:
      // Above zero, unless the rate is infinite.
      p.a = finite(-1 / a);
      p.low = std::isinf(a) ? 0 : type == at::kHalf ? 0x1p-24f : FLT_MIN;
      p.high = greatest_of(type);
      break;
    case Distribution::Geometric:
      // What does not fit would wrap around, to less than 1.
      p.a = finite(1 / std::log1p(-a));
      p.low = 1;
      p.high = greatest_of(type);
      break;
    case Distribution::Bernoulli:
      p.range = threshold_of(a);
      break;
    default:
      break;
  }
  return p;
}

// How many numbers random_() without bounds chooses from, zero included.
uint64_t count_of_values(ScalarType type) {
  uint64_t count = 2;
  if (type == at::kBool) return count;
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, type, "random_", [&] {
    constexpr bool whole = std::numeric_limits<scalar_t>::is_integer;
    count = (uint64_t{1} << std::numeric_limits<scalar_t>::digits) + !whole;
  });
  return count;
}

// Torch's own templates check the arguments and call these.

const Tensor& tensor_of(const at::TensorIteratorBase& iter) {
  return iter.tensor(0);
}
const Tensor& tensor_of(const Tensor& tensor) {
  return tensor;
}

template <Distribution distribution>
struct Of {
  template <class>
  struct Kernel {
    void operator()(const auto& out, double a,
                    const OptionalGenerator& generator) const {
      (*this)(out, a, 0, generator);
    }
    void operator()(const auto& out, double a, double b,
                    const OptionalGenerator& generator) const {
      const Tensor& tensor = tensor_of(out);
      fill(distribution, params_of(distribution, tensor.scalar_type(), a, b),
           tensor, generator);
    }
  };
};

template <class>
struct BernoulliEachKernel {
  void operator()(const Tensor& out, const Tensor& probabilities,
                  const OptionalGenerator& generator) const {
    Tensor p = probabilities.to(at::kFloat).expand(out.sizes()).contiguous();
    if (same_buffer(p, out)) p = p.clone();
    RandomParams params;
    params.fault = fault_code("bernoulli_", FaultKind::Probability);
    fill(Distribution::BernoulliEach, params, out, generator, &p);
  }
};

void draw_integers(const Tensor& out, int64_t start, uint64_t range,
                   const OptionalGenerator& generator) {
  RandomParams p;
  p.start = words_of(uint64_t(start));
  p.range = words_of(range);
  fill(Distribution::Integer, p, out, generator);
}

template <class>
struct AnyIntegerKernel {
  void operator()(const at::TensorIteratorBase& iter,
                  const OptionalGenerator& generator) const {
    const Tensor& out = tensor_of(iter);
    draw_integers(out, 0, count_of_values(out.scalar_type()), generator);
  }
};

template <class>
struct IntegerKernel {
  void operator()(const at::TensorIteratorBase& iter, uint64_t range,
                  int64_t start, const OptionalGenerator& generator) const {
    draw_integers(tensor_of(iter), start, range, generator);
  }
  // All 64 bits.
  void operator()(const at::TensorIteratorBase& iter,
                  const OptionalGenerator& generator) const {
    const ScalarType type = tensor_of(iter).scalar_type();
    TORCH_CHECK(
        type == at::kLong || type == at::kFloat || type == at::kBFloat16,
        "random_ from the lowest int64 on is for int64, float64, float32 and "
        "bfloat16 tensors, got ",
        type);
    draw_integers(tensor_of(iter), 0, 0, generator);
  }
};

// The tests of what is filled (see native.h).

template <Distribution distribution>
bool takes_type(const at::TensorBase& out) {
  return have_kernel(distribution, out.scalar_type());
}
template <Distribution distribution, size_t place = 0>
constexpr TensorsAt<&takes_type<distribution>, place> takes;

namespace templates = at::native::templates;
using RNG = GeneratorImpl;

Tensor& uniform_(Tensor& self, double from, double to, OptionalGenerator g) {
  constexpr auto kind = Distribution::Uniform;
  return templates::uniform_impl_<Of<kind>::Kernel, RNG>(self, from, to, g);
}

Tensor& normal_(Tensor& self, double mean, double std, OptionalGenerator g) {
  constexpr auto kind = Distribution::Normal;
  return templates::normal_impl_<Of<kind>::Kernel, RNG>(self, mean, std, g);
}

Tensor& log_normal_(Tensor& self, double mean, double std,
                    OptionalGenerator g) {
  constexpr auto kind = Distribution::LogNormal;
  return templates::log_normal_impl_<Of<kind>::Kernel, RNG>(self, mean, std, g);
}

Tensor& cauchy_(Tensor& self, double median, double sigma,
                OptionalGenerator g) {
  constexpr auto kind = Distribution::Cauchy;
  return templates::cauchy_impl_<Of<kind>::Kernel, RNG>(self, median, sigma, g);
}

Tensor& exponential_(Tensor& self, double rate, OptionalGenerator g) {
  constexpr auto kind = Distribution::Exponential;
  return templates::exponential_impl_<Of<kind>::Kernel, RNG>(self, rate, g);
}

Tensor& geometric_(Tensor& self, double p, OptionalGenerator g) {
  constexpr auto kind = Distribution::Geometric;
  return templates::geometric_impl_<Of<kind>::Kernel, RNG>(self, p, g);
}

Tensor& bernoulli_float_(Tensor& self, double p, OptionalGenerator g) {
  constexpr auto kind = Distribution::Bernoulli;
  return templates::bernoulli_impl_<Of<kind>::Kernel, RNG>(self, p, g);
}

// Probabilities may also be a number on the CPU.
bool takes_each(const Tensor& p, const Tensor& out) {
  return is_native_float(p) && out.device().is_privateuseone() &&
         (p.device().is_privateuseone() || p.dim() == 0) &&
         have_kernel(Distribution::BernoulliEach, out.scalar_type());
}

bool takes_each_(const Tensor& self, const Tensor& p,
                 const OptionalGenerator&) {
  return takes_each(p, self);
}

Tensor& bernoulli_tensor_(Tensor& self, const Tensor& p, OptionalGenerator g) {
  return templates::bernoulli_impl_<BernoulliEachKernel, RNG>(
      self, p.to(self.device()), g);
}

bool takes_each_out(const Tensor& self, const OptionalGenerator&,
                    const Tensor& out) {
  return takes_each(self, out);
}

Tensor& bernoulli_out(const Tensor& self, OptionalGenerator g, Tensor& out) {
  return templates::bernoulli_out_impl<BernoulliEachKernel, RNG>(out, self, g);
}

Tensor& random_(Tensor& self, OptionalGenerator g) {
  return templates::random_impl<AnyIntegerKernel, RNG>(self, g);
}

Tensor& random_from_(Tensor& self, int64_t from, std::optional<int64_t> to,
                     OptionalGenerator g) {
  return templates::random_from_to_impl<IntegerKernel, RNG>(self, from, to, g);
}

Tensor& random_to_(Tensor& self, int64_t to, OptionalGenerator g) {
  return random_from_(self, 0, to, g);
}

// normal() of means and deviations, tensors or numbers.

constexpr auto kNormal = Distribution::Normal;

// Registered as it is: torch's code, the CPU's too, would broadcast the shape
// of an empty output.
Tensor& normal_out_t_f(const Tensor& mean, double std, OptionalGenerator g,
                       Tensor& out) {
  if (out.numel() == 0) resize_out(out, mean.sizes());
  if (!have_kernel(kNormal, out.scalar_type())) {
    cpu_call("aten::normal", "Tensor_float_out", {mean, std, g, out});
    return out;
  }
  return templates::normal_out_impl<Of<kNormal>::Kernel, RNG>(out, mean, std,
                                                              g);
}
Tensor& normal_out_f_t(double mean, const Tensor& std, OptionalGenerator g,
                       Tensor& out) {
  return templates::normal_out_impl<Of<kNormal>::Kernel, RNG>(out, mean, std,
                                                              g);
}
Tensor& normal_out_t_t(const Tensor& mean, const Tensor& std,
                       OptionalGenerator g, Tensor& out) {
  return templates::normal_out_impl<Of<kNormal>::Kernel, RNG>(out, mean, std,
                                                              g);
}

Tensor normal_t_f(const Tensor& mean, double std, OptionalGenerator g) {
  Tensor out = at::empty(mean.sizes(), mean.options());
  return normal_out_t_f(mean, std, g, out);
}
Tensor normal_f_t(double mean, const Tensor& std, OptionalGenerator g) {
  Tensor out = at::empty(std.sizes(), std.options());
  return normal_out_f_t(mean, std, g, out);
}
Tensor normal_t_t(const Tensor& mean, const Tensor& std, OptionalGenerator g) {
  const auto shape = at::infer_size(mean.sizes(), std.sizes());
  Tensor out = at::empty(shape, mean.options().device(at::kPrivateUse1));
  return normal_out_t_t(mean, std, g, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  using enum Distribution;
  native<"uniform_", &uniform_, takes<Uniform>>(m);
  native<"normal_", &normal_, takes<Normal>>(m);
  native<"log_normal_", &log_normal_, takes<LogNormal>>(m);
  native<"cauchy_", &cauchy_, takes<Cauchy>>(m);
  native<"exponential_", &exponential_, takes<Exponential>>(m);
  native<"geometric_", &geometric_, takes<Geometric>>(m);
  native<"bernoulli_.float", &bernoulli_float_, takes<Bernoulli>>(m);
  native<"bernoulli_.Tensor", &bernoulli_tensor_, &takes_each_>(m);
  native<"bernoulli.out", &bernoulli_out, &takes_each_out>(m);
  native<"random_", &random_, takes<Integer>>(m);
  native<"random_.from", &random_from_, takes<Integer>>(m);
  native<"random_.to", &random_to_, takes<Integer>>(m);
  // The result has the dtype of the mean, or else of the deviation.
  native<"normal.Tensor_float", &normal_t_f, takes<Normal>>(m);
  native<"normal.float_Tensor", &normal_f_t, takes<Normal, 1>>(m);
  native<"normal.Tensor_Tensor", &normal_t_t, takes<Normal>>(m);
  m.impl("normal.Tensor_float_out", &normal_out_t_f);
  native<"normal.float_Tensor_out", &normal_out_f_t, takes<Normal, 3>>(m);
  native<"normal.Tensor_Tensor_out", &normal_out_t_t, takes<Normal, 3>>(m);
}

}  // namespace torch_webgpu::ops
