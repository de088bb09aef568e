#include "ops/reduce/reduce_kernel.h"

#include <c10/util/irange.h>
#include <fmt/format.h>

#include <set>
#include <string_view>

namespace torch_webgpu::ops {
namespace {

using wgsl::Compute;
using wgsl::DType;
using wgsl::Mode;
using wgsl::Width;
using Access = ReduceAccess;
using Stage = ReduceStage;
using Variant = ReduceVariant;

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
     "log_sum_add(acc, x)", "log_sum_merge(acc, other)", "log_sum_value(acc)"},
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

// The second result is an index beside a value, else it is like the first.
DType second_dtype(const Variant& v) {
  return row_of(v.op).types == Types::Values ? DType::I64 : v.o;
}

const char* name_of(Access access) {
  switch (access) {
    case Access::Element:
      return "";
    case Access::Row:
      return "_row";
    case Access::Line:
      return "_line";
    case Access::Column:
      return "_column";
  }
  return "";
}

std::string label_of(const Variant& v) {
  const char* name = row_of(v.op).name;
  std::string label = fmt::format("{}_{}_{}", name, name_of(v.a), name_of(v.o));
  if (v.stage == Stage::First) {
    label =
        fmt::format("{}_{}_{}_parts", name, name_of(v.a), name_of(v.compute));
  } else if (v.stage == Stage::Last) {
    label =
        fmt::format("{}_{}_parts_{}", name, name_of(v.compute), name_of(v.o));
  }
  label += name_of(v.access);
  label += v.threads == 1 ? std::string("_thread")
                          : fmt::format("_group{}", v.threads);
  if (v.windows_a * v.windows_o * v.windows_q != 1) {
    label += fmt::format("_w{}{}{}", v.windows_a, v.windows_o, v.windows_q);
  }
  return label;
}

// The loaded value as what the kernel computes in.
std::string converted(const Variant& v, const std::string& value) {
  if (v.stage == Stage::Last || compute_of(v.a) == v.compute) return value;
  return fmt::format("{}_to_{}({})", name_of(compute_of(v.a)),
                     name_of(v.compute), value);
}

std::string emit_text(const Variant& v, bool second) {
  const Row& row = row_of(v.op);
  if (v.stage == Stage::First) {
    return fmt::format(
        "let words = {}_words(acc);\n"
        "  write_o(4u * i, words.x);\n  write_o(4u * i + 1u, words.y);\n"
        "  write_o(4u * i + 2u, words.z);\n  write_o(4u * i + 3u, words.w);",
        row.kind.words);
  }
  auto emit = fmt::format("store_o(p.o_offset + i, {});", row.first);
  if (second) {
    emit += fmt::format("\n  store_q(p.q_offset + i, {});", row.second);
  }
  return emit;
}

wgsl::KernelText describe(const Variant& v) {
  const Row& row = row_of(v.op);
  const bool wide = v.access != Access::Element;
  const bool column = v.access == Access::Column;
  wgsl::KernelText text;
  text.label = label_of(v);
  text.file = column ? "reduce_column" : wide ? "reduce_row" : "reduce";
  text.compute = v.compute;
  text.params = ReduceParams::wgsl();
  text.operands = {{"a",
                    v.a,
                    Mode::Read,
                    v.windows_a,
                    {},
                    wide ? Width::Quad : Width::Element},
                   {"o", v.o, Mode::Write, v.windows_o, {}}};
  const bool second = *row.second && v.stage != Stage::First;
  if (second) {
    text.operands.push_back(
        {"q", second_dtype(v), Mode::Write, v.windows_q, {}});
  }
  text.walks = {{"kept", {"a"}}, {"reduced", {"a"}}};
  text.substitutions = {{"acc", row.kind.type},
                        {"init", row.init},
                        {"merge", row.merge},
                        {"emit", emit_text(v, second)}};
  const auto set = [&](const char* key, std::string value) {
    text.substitutions.emplace_back(key, std::move(value));
  };
  if (wide) {
    set("step", row.step);
    for (const char* part : {"x", "y", "z", "w"}) {
      set(part, converted(v, fmt::format("v.{}", part)));
    }
  } else if (v.stage == Stage::Last) {
    set("base", "i");
    set("take", fmt::format("let at = 4u * (r * p.outputs + base);\n"
                            "  return merge(acc, {}_of_words(vec4<u32>(\n"
                            "    read_a(at), read_a(at + 1u), read_a(at + 2u),"
                            " read_a(at + 3u))));",
                            row.kind.words));
  } else {
    set("base", "p.a_offset + kept_a(i - split * p.outputs)");
    set("take",
        fmt::format("let x = {};\n  return {};",
                    converted(v, "load_a(base + reduced_a(r))"), row.step));
  }
  if (column) return text;
  if (wide) {
    set("single", converted(v, "load_a(4u * base + r)"));
    // A thread that works alone goes through one run of dense elements after
    // the other; those of a group jump over each other's.
    const bool runs = v.threads == 1;
    const char* origin = "origin = base + (reduced_a(4u * q) >> 2u) - q;";
    set("block", runs ? "min(16u, left)" : "16u * threads");
    set("begin", runs ? fmt::format("let run = p.reduced.sizes[0].x >> 2u;\n"
                                    "  var left = run - q % run;\n  var {}",
                                    origin)
                      : "let origin = base;");
    set("next", runs ? fmt::format("left -= count;\n    if (left == 0u) {{\n"
                                   "      left = run;\n      {}\n    }}",
                                   origin)
                     : "");
    set("place",
        runs || v.access == Access::Line ? "q" : "(reduced_a(4u * q) >> 2u)");
  }
  const bool alone = v.threads == 1;
  set("threads", std::to_string(v.threads));
  set("workgroup", std::to_string(alone ? kReduceWorkgroup : v.threads));
  set("worker", alone ? fmt::format("thread_index(group, groups, lane, {}u)",
                                    kReduceWorkgroup)
                      : "group_index(group, groups)");
  set("first", alone ? "0u" : "lane");
  set("finish", alone ? "emit(i, mine);"
                      : "let acc = combine(mine, lane);\n    if (lane == 0u) "
                        "{\n      emit(i, acc);\n    }");
  return text;
}

template <bool wide>
std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  std::set<std::string> labels;
  const auto add = [&](const Variant& v) {
    if (labels.insert(label_of(v)).second) all.push_back(v);
  };
  const auto add_stages = [&](Reduction op, DType a, DType o, Access access,
                              uint16_t threads) {
    const Compute compute = compute_for(op, a, o);
    add({op, Stage::Only, compute, a, o, access, threads, 1, 1, 1, 0});
    add({first_stage_of(op), Stage::First, compute, a, DType::I32, access,
         threads, 1, 1, 1, 0});
    if (!wide) {
      add({op, Stage::Last, last_compute(op, compute), DType::I32, o, access,
           threads, 1, 1, 1, 0});
    }
  };
  for (const auto i : c10::irange(kCountOfRows)) {
    const auto op = static_cast<Reduction>(i);
    for (const DType a : wgsl::kAllDTypes) {
      for (const DType o : wgsl::kAllDTypes) {
        if (!is_direct(op, a, o)) continue;
        if (!wide) {
          add_stages(op, a, o, Access::Element, 1);
          add_stages(op, a, o, Access::Element, kReduceWorkgroup);
          continue;
        }
        add_stages(op, a, o, Access::Row, 1);
        for (const Access access : {Access::Row, Access::Line}) {
          add_stages(op, a, o, access, kReduceWorkgroup);
        }
        add_stages(op, a, o, Access::Column, 1);
      }
    }
  }
  return all;
}

// Larger workgroups only change that number.
Variant as_listed(Variant v) {
  if (v.threads > 1) v.threads = kReduceWorkgroup;
  return v;
}

Family<Variant> narrow_family(describe, enumerate<false>, as_listed);
Family<Variant> wide_family(describe, enumerate<true>, as_listed);

}  // namespace

const hal::Kernel& reduce_kernel(const ReduceVariant& v) {
  return v.access == Access::Element ? narrow_family(v) : wide_family(v);
}

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

Compute compute_for(Reduction op, DType a, DType o) {
  return compute_of(row_of(op).types == Types::Cast ? o : a);
}

Compute last_compute(Reduction op, Compute compute) {
  return std::string_view(row_of(op).kind.type) == kCount.type ? Compute::U32
                                                               : compute;
}

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

bool is_indexed(Reduction op) {
  return std::string_view(row_of(op).kind.type) == kIndexed.type;
}

bool is_truth(Reduction op) {
  return row_of(op).types == Types::Truth;
}

}  // namespace torch_webgpu::ops
