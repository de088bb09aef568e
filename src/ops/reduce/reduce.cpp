#include "ops/reduce/reduce.h"

#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/util/irange.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/reduce/reduce_plan.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::Compute;
using wgsl::DType;

// What the accumulator of an operator is, and the functions of
// wgsl/lib/reduce.wgsl that turn it into words and back.
struct Kind {
  const char* type;
  const char* words;
};
constexpr Kind kValue{"T", "value"};
constexpr Kind kCount{"u32", "count"};
constexpr Kind kIndexed{"Indexed", "indexed"};
constexpr Kind kRange{"Range", "range"};
constexpr Kind kMoments{"Moments", "moments"};
constexpr Kind kLogSum{"LogSum", "log_sum"};

// Which dtypes an operator takes and makes.
enum class Types : uint8_t {
  Cast,    // computes in the type of the result
  Same,    // the result has the input's type
  Float,   // the same, floats only; float32 from the half types too
  Truth,   // bool, or uint8 from uint8
  Index,   // int64
  Values,  // the input's type, and int64 indices
};

// An operator: the accumulator's first value, how it takes the element x with
// index r, how it takes another accumulator, and what its results are.
struct Row {
  const char* name;
  Kind kind;
  Types types;
  const char* init;
  const char* step;
  const char* merge;
  const char* first;
  const char* second = "";
};

// In the order of Reduction.
constexpr Row kRows[] = {
    {"sum", kValue, Types::Cast, "t_zero()", "t_add(acc, x)",
     "t_add(acc, other)", "acc"},
    {"mean", kValue, Types::Float, "t_zero()", "t_add(acc, x)",
     "t_add(acc, other)", "over_divisor(acc)"},
    {"prod", kValue, Types::Cast, "t_one()", "t_mul(acc, x)",
     "t_mul(acc, other)", "acc"},
    {"nansum", kValue, Types::Float, "t_zero()",
     "acc + select(x, 0.0, is_nan(x))", "acc + other", "acc"},
    {"max", kValue, Types::Same, "t_lowest()", "t_max(acc, x)",
     "t_max(acc, other)", "acc"},
    {"min", kValue, Types::Same, "t_highest()", "t_min(acc, x)",
     "t_min(acc, other)", "acc"},
    {"any", kCount, Types::Truth, "0u", "acc | u32(!t_is_zero(x))",
     "acc | other", "acc"},
    {"all", kCount, Types::Truth, "1u", "acc & u32(!t_is_zero(x))",
     "acc & other", "acc"},
    {"count_nonzero", kCount, Types::Index, "0u", "acc + u32(!t_is_zero(x))",
     "acc + other", "u32_to_i64(acc)"},
    {"norm_0", kCount, Types::Float, "0u", "acc + u32(!t_is_zero(x))",
     "acc + other", "u32_to_f32(acc)"},
    {"norm_1", kValue, Types::Float, "0.0", "acc + abs_f32(x)", "acc + other",
     "acc"},
    {"norm_2", kValue, Types::Float, "0.0", "acc + x * x", "acc + other",
     "sqrt(acc)"},
    {"norm_max", kValue, Types::Float, "0.0", "max_nan(acc, abs_f32(x))",
     "max_nan(acc, other)", "acc"},
    {"norm_min", kValue, Types::Float, "inf_f32()", "min_nan(acc, abs_f32(x))",
     "min_nan(acc, other)", "acc"},
    {"norm_p", kValue, Types::Float, "0.0", "acc + m_pow(abs_f32(x), p.order)",
     "acc + other", "m_pow(acc, 1.0 / p.order)"},
    {"logsumexp", kLogSum, Types::Float, "LogSum(-inf_f32(), 0.0)",
     "log_sum_merge(acc, LogSum(x, 1.0))", "log_sum_merge(acc, other)",
     "log_sum_value(acc)"},
    {"argmax", kIndexed, Types::Index, "Indexed(t_lowest(), 0xffffffffu)",
     "larger(acc, Indexed(x, r))", "larger(acc, other)",
     "u32_to_i64(acc.index)"},
    {"argmin", kIndexed, Types::Index, "Indexed(t_highest(), 0xffffffffu)",
     "smaller(acc, Indexed(x, r))", "smaller(acc, other)",
     "u32_to_i64(acc.index)"},
    {"max_index", kIndexed, Types::Values, "Indexed(t_lowest(), 0xffffffffu)",
     "larger(acc, Indexed(x, r))", "larger(acc, other)", "acc.value",
     "u32_to_i64(acc.index)"},
    {"min_index", kIndexed, Types::Values, "Indexed(t_highest(), 0xffffffffu)",
     "smaller(acc, Indexed(x, r))", "smaller(acc, other)", "acc.value",
     "u32_to_i64(acc.index)"},
    {"min_max", kRange, Types::Same, "Range(t_highest(), t_lowest())",
     "range_merge(acc, Range(x, x))", "range_merge(acc, other)", "acc.low",
     "acc.high"},
    {"var", kMoments, Types::Float, "Moments(0.0, 0.0, 0.0, 0.0)",
     "moments_add(acc, x)", "moments_merge(acc, other)",
     "over_divisor(acc.square)"},
    {"std", kMoments, Types::Float, "Moments(0.0, 0.0, 0.0, 0.0)",
     "moments_add(acc, x)", "moments_merge(acc, other)",
     "sqrt(over_divisor(acc.square))"},
    {"var_mean", kMoments, Types::Float, "Moments(0.0, 0.0, 0.0, 0.0)",
     "moments_add(acc, x)", "moments_merge(acc, other)",
     "over_divisor(acc.square)", "acc.shift + acc.mean"},
    {"std_mean", kMoments, Types::Float, "Moments(0.0, 0.0, 0.0, 0.0)",
     "moments_add(acc, x)", "moments_merge(acc, other)",
     "sqrt(over_divisor(acc.square))", "acc.shift + acc.mean"},
};
constexpr size_t kCountOfRows = std::size(kRows);
static_assert(kCountOfRows == size_t(Reduction::StdMean) + 1);

const Row& row_of(Reduction op) {
  return kRows[size_t(op)];
}

// The operator whose first stage this one shares.
Reduction first_stage_of(Reduction op) {
  const Row& row = row_of(op);
  for (const auto i : c10::irange(size_t(op))) {
    if (std::string_view(row.step) == kRows[i].step &&
        std::string_view(row.init) == kRows[i].init) {
      return static_cast<Reduction>(i);
    }
  }
  return op;
}

// Large reductions with few results are split: the first kernel leaves the
// accumulators of the parts in a buffer, the last one merges them.
enum class Stage : uint8_t { Only, First, Last };

struct Variant {
  Reduction op;
  Stage stage;
  Compute compute;
  DType a;
  DType o;
  uint8_t by_group;  // a workgroup per item, else a thread
  uint8_t windows_a;
  uint8_t windows_o;
  uint8_t windows_q;
  static constexpr uint8_t Variant::* kWindows[] = {
      &Variant::windows_a, &Variant::windows_o, &Variant::windows_q};
};

// clang-format off
#define REDUCE_PARAMS(X) \
  X(u32, outputs) \
  X(u32, reduced) \
  X(u32, splits) \
  X(u32, chunk) \
  X(u32, a_offset) \
  X(u32, o_offset) \
  X(u32, q_offset) \
  X(f32, divisor) \
  X(f32, order) \
  X(u32, kept_rank) \
  X(u32, reduced_rank) \
  X(u32x8, kept_sizes) \
  X(u32x8, kept_strides) \
  X(u32x8, reduced_sizes) \
  X(u32x8, reduced_strides)
// clang-format on
WEBGPU_PARAMS(ReduceParams, REDUCE_PARAMS);

// The second result is an index beside a value, else it is like the first.
DType second_dtype(const Variant& v) {
  return row_of(v.op).types == Types::Values ? DType::I64 : v.o;
}

wgsl::KernelText describe(const Variant& v) {
  const Row& row = row_of(v.op);
  wgsl::KernelText text;
  text.label = fmt::format("{}_{}_{}", row.name, name_of(v.a), name_of(v.o));
  if (v.stage != Stage::Only) {
    text.label = fmt::format(
        "{}_{}_{}", row.name,
        v.stage == Stage::First ? name_of(v.a) : name_of(v.compute),
        v.stage == Stage::First ? fmt::format("{}_parts", name_of(v.compute))
                                : fmt::format("parts_{}", name_of(v.o)));
  }
  text.label += v.by_group ? "_group" : "_thread";
  if (v.windows_a * v.windows_o * v.windows_q != 1) {
    text.label +=
        fmt::format("_w{}{}{}", v.windows_a, v.windows_o, v.windows_q);
  }
  text.file = "reduce";
  text.compute = v.compute;
  text.params = ReduceParams::wgsl();
  text.operands = {{"a", v.a, wgsl::Mode::Read, v.windows_a, {}},
                   {"o", v.o, wgsl::Mode::Write, v.windows_o, {}}};
  const bool second = *row.second && v.stage != Stage::First;
  if (second) {
    text.operands.push_back(
        {"q", second_dtype(v), wgsl::Mode::Write, v.windows_q, {}});
  }

  std::string take, base, emit;
  if (v.stage == Stage::Last) {
    base = "i";
    take = fmt::format(
        "let at = 4u * (r * p.outputs + base);\n"
        "  return merge(acc, {}_of_words(vec4<u32>(\n"
        "    read_a(at), read_a(at + 1u), read_a(at + 2u), read_a(at + 3u))));",
        row.kind.words);
  } else {
    std::string load = "load_a(base + reduced_place(r))";
    if (compute_of(v.a) != v.compute) {
      load = fmt::format("{}_to_{}({})", name_of(compute_of(v.a)),
                         name_of(v.compute), load);
    }
    base = "p.a_offset + kept_place(i - split * p.outputs)";
    take = fmt::format("let x = {};\n  return {};", load, row.step);
  }
  if (v.stage == Stage::First) {
    emit = fmt::format(
        "let words = {}_words(acc);\n"
        "  write_o(4u * i, words.x);\n  write_o(4u * i + 1u, words.y);\n"
        "  write_o(4u * i + 2u, words.z);\n  write_o(4u * i + 3u, words.w);",
        row.kind.words);
  } else {
    emit = fmt::format("store_o(p.o_offset + i, {});", row.first);
    if (second) {
      emit += fmt::format("\n  store_q(p.q_offset + i, {});", row.second);
    }
  }
  text.substitutions = {
      {"threads", v.by_group ? "64" : "1"},
      {"acc", row.kind.type},
      {"init", row.init},
      {"merge", row.merge},
      {"take", take},
      {"emit", emit},
      {"base", base},
      {"worker", v.by_group ? "group_index(group, groups)"
                            : "thread_index(group, groups, lane, 64u)"},
      {"reduce",
       v.by_group ? "let acc = combine(accumulate(base, begin + lane, end), "
                    "lane);\n    if (lane == 0u) {\n      emit(i, acc);\n    }"
                  : "emit(i, accumulate(base, begin, end));"},
  };
  return text;
}

// What `op` computes in, for an input and a (first) result of these types.
Compute compute_for(Reduction op, DType a, DType o) {
  return compute_of(row_of(op).types == Types::Cast ? o : a);
}

// What the last stage computes in: a count no longer knows its input's type.
Compute last_compute(Reduction op, Compute compute) {
  return std::string_view(row_of(op).kind.type) == kCount.type ? Compute::U32
                                                               : compute;
}

// Whether a kernel makes `o` from `a` in one step.
bool is_direct(Reduction op, DType a, DType o) {
  switch (row_of(op).types) {
    case Types::Cast:
      return a == o || (o == DType::I64 && !is_float(a)) ||
             (o == DType::F32 && is_float(a));
    case Types::Float:
      return is_float(a) && (a == o || o == DType::F32);
    case Types::Same:
    case Types::Values:
      return a == o;
    case Types::Truth:
      return o == (a == DType::U8 ? DType::U8 : DType::Bool);
    case Types::Index:
      return o == DType::I64;
  }
  return false;
}

std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  std::set<std::string> labels;
  const auto add_once = [&](const Variant& v) {
    if (labels.insert(describe(v).label).second) all.push_back(v);
  };
  for (const auto op : c10::irange(kCountOfRows)) {
    const auto reduction = static_cast<Reduction>(op);
    for (const DType a : wgsl::kAllDTypes) {
      for (const DType o : wgsl::kAllDTypes) {
        if (!is_direct(reduction, a, o)) continue;
        const Compute compute = compute_for(reduction, a, o);
        for (const uint8_t by_group : {0, 1}) {
          add_once({reduction, Stage::Only, compute, a, o, by_group, 1, 1, 1});
          add_once({first_stage_of(reduction), Stage::First, compute, a,
                    DType::I32, by_group, 1, 1, 1});
        }
        add_once({reduction, Stage::Last, last_compute(reduction, compute),
                  DType::I32, o, 1, 1, 1, 1});
      }
    }
  }
  return all;
}

Family<Variant> family(describe, enumerate);

// A kernel writes whole words of a contiguous tensor of its own.
bool is_writable(const at::Tensor& out, const at::Tensor& self) {
  return out.is_contiguous() &&
         out.storage_offset() % lanes_of(wgsl::dtype_of(out.scalar_type())) ==
             0 &&
         !same_buffer(out, self);
}

void run(Reduction op, const at::Tensor& self, DimMask dims,
         const at::Tensor& out, const at::Tensor& second,
         ReduceNumbers numbers) {
  const Row& row = row_of(op);
  Axes kept, reduced;
  split_axes(self, dims, std::string_view(row.kind.type) == kIndexed.type, kept,
             reduced);
  if (!kept.fits || !reduced.fits) {
    // More than 8 dimensions that do not merge: brought into order first.
    at::DimVector order;
    DimMask last;
    for (const auto d : c10::irange(self.dim())) {
      if (!dims[d]) order.push_back(d);
    }
    for (const auto d : c10::irange(self.dim())) {
      if (!dims[d]) continue;
      last[order.size()] = true;
      order.push_back(d);
    }
    return run(op, self.permute(order).contiguous(), last, out, second,
               numbers);
  }
  const Plan plan = plan_for(kept, reduced);
  const DType a = wgsl::dtype_of(self.scalar_type());
  const DType o = wgsl::dtype_of(out.scalar_type());
  Variant v{op,
            Stage::Only,
            compute_for(op, a, o),
            a,
            o,
            uint8_t(plan.by_group),
            windows_of(self),
            windows_of(out),
            second.defined() ? windows_of(second) : uint8_t(1)};
  ReduceParams p;
  p.outputs = uint32_t(kept.count);
  p.reduced = uint32_t(reduced.count);
  p.splits = plan.splits;
  p.chunk = uint32_t(ceil_div(reduced.count, plan.splits));
  p.a_offset = offset_of(self);
  p.o_offset = offset_of(out);
  p.q_offset = second.defined() ? offset_of(second) : 0;
  p.divisor = float(numbers.divisor);
  p.order = float(numbers.order);
  p.kept_rank = kept.rank;
  p.reduced_rank = reduced.rank;
  p.kept_sizes = kept.sizes;
  p.kept_strides = kept.strides;
  p.reduced_sizes = reduced.sizes;
  p.reduced_strides = reduced.strides;

  const auto workgroups = [&](const Variant& variant, uint64_t items) {
    const uint64_t workers = ceil_div(items, lanes_of(variant.o));
    return variant.by_group ? workers : ceil_div(workers, kWorkgroup);
  };
  const auto finish = [&](const Variant& variant, const at::Tensor& from) {
    const uint64_t groups = workgroups(variant, p.outputs);
    if (second.defined()) {
      launch(family(variant), {&from, &out, &second}, p, groups);
    } else {
      launch(family(variant), {&from, &out}, p, groups);
    }
  };
  if (plan.splits == 1) return finish(v, self);

  const int64_t items = int64_t(p.outputs) * p.splits;
  const at::Tensor parts =
      at::empty({4 * items}, self.options().dtype(at::kInt));
  v.op = first_stage_of(op);
  v.stage = Stage::First;
  v.o = DType::I32;
  v.windows_o = windows_of(parts);
  v.windows_q = 1;
  launch(family(v), {&self, &parts}, p, workgroups(v, uint64_t(items)));

  v.op = op;
  v.stage = Stage::Last;
  v.compute = last_compute(op, v.compute);
  v.a = DType::I32;
  v.o = o;
  v.by_group = 1;
  v.windows_a = windows_of(parts);
  v.windows_o = windows_of(out);
  v.windows_q = second.defined() ? windows_of(second) : uint8_t(1);
  p.reduced = p.chunk = p.splits;
  p.splits = 1;
  finish(v, parts);
}

}  // namespace

bool is_native(const at::TensorBase& self) {
  return wgsl::has_dtype(self.scalar_type());
}

DimMask reduced_dims(const at::TensorBase& self, at::OptionalIntArrayRef dims,
                     bool empty_is_none) {
  if (dims && dims->empty() && !empty_is_none) dims = std::nullopt;
  return at::dim_list_to_bitset(dims, size_t(self.dim()));
}

at::DimVector reduced_shape(const at::TensorBase& self, DimMask dims,
                            bool keepdim) {
  at::DimVector shape;
  for (const auto d : c10::irange(self.dim())) {
    if (!dims[d]) {
      shape.push_back(self.size(d));
    } else if (keepdim) {
      shape.push_back(1);
    }
  }
  return shape;
}

int64_t reduced_count(const at::TensorBase& self, DimMask dims) {
  int64_t count = 1;
  for (const auto d : c10::irange(self.dim())) {
    if (dims[d]) count *= self.size(d);
  }
  return count;
}

void resize_result(const at::Tensor& out, at::IntArrayRef shape) {
  if (out.sizes() != shape) at::native::resize_output(out, shape);
}

void check_result_dtype(const at::Tensor& out, at::ScalarType expected) {
  TORCH_CHECK(out.scalar_type() == expected,
              "Expected out tensor to have dtype ", expected, ", but got ",
              out.scalar_type(), " instead");
}

void reduce(Reduction op, const at::Tensor& self, DimMask dims,
            const at::Tensor& out, const at::Tensor& second,
            ReduceNumbers numbers) {
  if (out.numel() == 0) return;
  const DType a = wgsl::dtype_of(self.scalar_type());
  const DType o = wgsl::dtype_of(out.scalar_type());
  if (!is_direct(op, a, o)) {
    TORCH_INTERNAL_ASSERT(a != o && row_of(op).types != Types::Truth);
    return reduce(op, self.to(out.scalar_type()), dims, out, second, numbers);
  }
  const bool first_fits = is_writable(out, self);
  const bool second_fits = !second.defined() || is_writable(second, self);
  if (first_fits && second_fits) {
    return run(op, self, dims, out, second, numbers);
  }
  constexpr auto dense = at::MemoryFormat::Contiguous;
  const at::Tensor first_result = first_fits ? out : at::empty_like(out, dense);
  const at::Tensor second_result =
      second_fits ? second : at::empty_like(second, dense);
  run(op, self, dims, first_result, second_result, numbers);
  if (!first_fits) out.copy_(first_result);
  if (!second_fits) second.copy_(second_result);
}

}  // namespace torch_webgpu::ops
