// Running sums, products, extremes: cumsum, cumprod, logcumsumexp, cummax,
// cummin.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/util/irange.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>
#include <set>

#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/norm/rows.h"
#include "ops/reduce/reduce.h"
#include "ops/runtime/native.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::ScalarType;
using at::Tensor;
using wgsl::Compute;
using wgsl::DType;
using wgsl::Mode;

enum class Scan : uint8_t { Sum, ExactSum, Prod, LogSumExp, Max, Min };

// An operator: how its accumulator begins, takes the element x at index r,
// takes that of the elements before it, and what the running results are.
struct Row {
  const char* name;
  const char* acc;
  const char* words;  // prefix of the functions between it and four words
  const char* init;
  const char* step;
  const char* merge;
  const char* first;
  const char* second = "";
};

// In the order of Scan.
constexpr Row kRows[] = {
    {"cumsum", "T", "value", "t_zero()", "t_add(acc, x)", "t_add(acc, other)",
     "acc"},
    {"cumsum", "vec2<f32>", "exact", "vec2<f32>(0.0)", "exact_add(acc, x)",
     "exact_merge(acc, other)", "exact_value(acc)"},
    {"cumprod", "T", "value", "t_one()", "t_mul(acc, x)", "t_mul(acc, other)",
     "acc"},
    {"logcumsumexp", "LogSum", "log_sum", "LogSum(-inf_f32(), 0.0)",
     "log_sum_merge(acc, LogSum(x, 1.0))", "log_sum_merge(acc, other)",
     "log_sum_value(acc)"},
    {"cummax", "Indexed", "indexed", "Indexed(t_lowest(), 0u)",
     "last_larger(acc, Indexed(x, r))", "last_larger(acc, other)", "acc.value",
     "u32_to_i64(acc.index)"},
    {"cummin", "Indexed", "indexed", "Indexed(t_highest(), 0u)",
     "last_smaller(acc, Indexed(x, r))", "last_smaller(acc, other)",
     "acc.value", "u32_to_i64(acc.index)"},
};

// Who goes through a row, or through a block of a long one.
enum class Layout : uint8_t {
  Thread,  // a thread, through the row
  Chunks,  // a workgroup, each thread through a chunk
  Tiles,   // a workgroup, tile by tile, each thread at its unit
};
constexpr uint32_t kTileThreads = 128;

struct Variant {
  Scan op;
  DType a;
  DType o;
  Layout layout;
  uint8_t wide;     // units are quads
  uint8_t blocked;  // reads the totals of the blocks before its own
  uint8_t windows_a;
  uint8_t windows_o;
  uint8_t windows_q;
  static constexpr uint8_t Variant::* kWindows[] = {
      &Variant::windows_a, &Variant::windows_o, &Variant::windows_q};
};

WEBGPU_PARAMS(ScanParams, (u32, rows), (u32, count), (u32, inner), (u32, chunk),
              (u32, blocks), (u32, block), (u32, a_offset), (u32, o_offset),
              (u32, q_offset));

// The CPU's dtypes: sums and products of any, others of the input's.
bool is_direct(Scan op, DType a, DType o) {
  switch (op) {
    case Scan::Sum:
      return !is_float(a) && (a == o || o == DType::I64);
    case Scan::ExactSum:
    case Scan::LogSumExp:
      return is_float(a) && (a == o || o == DType::F32);
    case Scan::Prod:
      return a == o || (is_float(a) ? o == DType::F32 : o == DType::I64);
    case Scan::Max:
    case Scan::Min:
      // The wider types are for results whose rows do not begin at words.
      return a == o || (is_float(a) ? o == DType::F32 : o == DType::I64);
  }
  return false;
}

wgsl::Width width_of(const Variant& v) {
  return v.wide ? wgsl::Width::Quad : wgsl::Width::Element;
}

// A unit's elements, or the accumulators after each of them.
constexpr const char* kParts[] = {"x", "y", "z", "w"};

// Takes the unit at `at` into acc, leaving the accumulators after its first
// elements in acc_x, acc_y, acc_z.
std::string take_text(const Variant& v) {
  const auto converted = [&](std::string value) {
    if (compute_of(v.a) == compute_of(v.o)) return value;
    return fmt::format("{}_to_{}({})", name_of(compute_of(v.a)),
                       name_of(compute_of(v.o)), value);
  };
  if (!v.wide) {
    return fmt::format("acc = step(acc, {}, r);",
                       converted("load_a(p.a_offset + at)"));
  }
  std::string text = "let unit = load4_a((p.a_offset + at) >> 2u);";
  std::string last = "acc";
  for (const auto i : c10::irange(4u)) {
    const std::string next = i == 3 ? "acc" : fmt::format("acc_{}", kParts[i]);
    text += fmt::format("\n    {}{} = step({}, {}, r + {}u);",
                        i == 3 ? "" : "let ", next, last,
                        converted(fmt::format("unit.{}", kParts[i])), i);
    last = next;
  }
  return text;
}

// Stores what `value` makes of the unit's accumulators.
std::string emit_text(const Variant& v, const char* operand, Compute compute,
                      const char* value) {
  if (!v.wide) {
    return fmt::format("store_{0}(p.{0}_offset + at, {1}(acc));", operand,
                       value);
  }
  return fmt::format(
      "store4_{0}((p.{0}_offset + at) >> 2u, {1}({2}(acc_x), {2}(acc_y), "
      "{2}(acc_z), {2}(acc)));",
      operand, wgsl::quad_type(compute), value);
}

std::string function_text(const char* name, const char* type,
                          const char* value) {
  return fmt::format("\nfn {}(acc: Acc) -> {} {{\n  return {};\n}}\n", name,
                     type, value);
}

// What all kernels of a scan have.
wgsl::KernelText begin_text(const char* file, const Variant& v) {
  const Row& row = kRows[size_t(v.op)];
  wgsl::KernelText text;
  text.file = file;
  text.compute = compute_of(v.o);
  text.params = ScanParams::wgsl();
  text.operands = {{"a", v.a, Mode::Read, v.windows_a, {}, width_of(v)}};
  text.substitutions = {
      {"accumulator", wgsl::substitute(wgsl::embedded("scan_steps"),
                                       {{"acc", row.acc},
                                        {"width", v.wide ? "4" : "1"},
                                        {"init", row.init},
                                        {"merge", row.merge},
                                        {"step", row.step},
                                        {"take", take_text(v)}})}};
  return text;
}

wgsl::KernelText describe(const Variant& v) {
  const Row& row = kRows[size_t(v.op)];
  const bool tiles = v.layout == Layout::Tiles;
  const bool chunks = v.layout == Layout::Chunks;
  wgsl::KernelText text = begin_text(tiles ? "scan_tiles" : "scan", v);
  text.label =
      fmt::format("{}_{}_{}_{}{}{}", row.name, name_of(v.a), name_of(v.o),
                  tiles    ? "tiles"
                  : chunks ? "chunks"
                           : "thread",
                  v.blocked ? "_blocks" : "", v.wide ? "_quads" : "");
  if (v.windows_a * v.windows_o * v.windows_q != 1) {
    text.label +=
        fmt::format("_w{}{}{}", v.windows_a, v.windows_o, v.windows_q);
  }
  text.operands.push_back(
      {"o", v.o, Mode::Write, v.windows_o, {}, width_of(v)});
  std::string& accumulator = text.substitutions.front().second;
  accumulator += function_text("first_of", "T", row.first);
  std::string emit = emit_text(v, "o", text.compute, "first_of");
  if (*row.second) {
    text.operands.push_back(
        {"q", DType::I64, Mode::Write, v.windows_q, {}, width_of(v)});
    accumulator += function_text("second_of", "i64", row.second);
    emit += "\n    " + emit_text(v, "q", Compute::I64, "second_of");
  }
  std::string prior = "let prior = initial();";
  if (v.blocked) {
    text.operands.push_back({"t", DType::I32, Mode::Read, 1, {}});
    prior = fmt::format(
        "var prior = initial();\n"
        "  for (var i = row * p.blocks; i < item; i += 1u) {{\n"
        "    prior = merge(prior, {}_of_words(vec4<u32>(\n"
        "      read_t(4u * i), read_t(4u * i + 1u), read_t(4u * i + 2u),\n"
        "      read_t(4u * i + 3u))));\n  }}",
        row.words);
  }
  const auto set = [&](const char* key, std::string value) {
    text.substitutions.emplace_back(key, std::move(value));
  };
  set("prior", prior);
  set("take", take_text(v));
  set("emit", emit);
  set("threads", std::to_string(tiles ? kTileThreads : chunks ? 64 : 1));
  if (tiles) return text;
  set("item", chunks ? "group_index(group, groups)"
                     : "thread_index(group, groups, lane, 64u)");
  set("first", chunks ? "lane" : "0u");
  set("before", chunks ? "before(prior, start, begin, end, lane)" : "prior");
  return text;
}

// Totals do not depend on how narrow the results are: one kernel for all
// results that compute alike.
DType totals_dtype(DType o) {
  switch (compute_of(o)) {
    case Compute::F32:
      return DType::F32;
    case Compute::I32:
      return DType::I32;
    case Compute::U32:
      return DType::U8;
    case Compute::I64:
      return DType::I64;
  }
  return o;
}

Variant totals_of(Variant v) {
  v.o = totals_dtype(v.o);
  v.layout = Layout::Chunks;
  v.blocked = 1;
  v.windows_o = v.windows_q = 1;
  return v;
}

wgsl::KernelText describe_totals(const Variant& v) {
  const Row& row = kRows[size_t(v.op)];
  wgsl::KernelText text = begin_text("scan_totals", v);
  text.label = fmt::format("{}_totals_{}_{}{}", row.name, name_of(v.a),
                           name_of(v.o), v.wide ? "_quads" : "");
  if (v.windows_a != 1) text.label += fmt::format("_w{}", v.windows_a);
  text.operands.push_back({"t", DType::I32, Mode::Write, 1, {}});
  text.substitutions.emplace_back("words", row.words);
  return text;
}

template <bool totals>
std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  std::set<std::string> labels;
  for (const auto op : c10::irange(std::size(kRows))) {
    for (const DType a : wgsl::kAllDTypes) {
      for (const DType o : wgsl::kAllDTypes) {
        if (!is_direct(Scan(op), a, o)) continue;
        for (const uint8_t wide : {0, 1}) {
          const auto add = [&](Layout layout, uint8_t blocked) {
            all.push_back({Scan(op), a, o, layout, wide, blocked, 1, 1, 1});
          };
          if (!totals) {
            add(Layout::Thread, 0);
            for (const uint8_t blocked : {0, 1}) {
              add(Layout::Chunks, blocked);
              add(Layout::Tiles, blocked);
            }
            continue;
          }
          const Variant v =
              totals_of({Scan(op), a, o, Layout::Chunks, wide, 1, 1, 1, 1});
          if (labels.insert(describe_totals(v).label).second) all.push_back(v);
        }
      }
    }
  }
  return all;
}

Family<Variant> family(describe, enumerate<false>);
Family<Variant> totals_family(describe_totals, enumerate<true>);

// Elements of a block of a long row: enough work for a workgroup.
constexpr uint64_t kBlock = 4096;
constexpr uint64_t kMaxBlocks = 256;

Layout choose(const Profile& profile, const Rows& rows) {
  if (profile.kind == Profile::Kind::Cpu) {
    // A CPU's threads cost little and its barriers much.
    return rows.rows() < 128 && rows.count > 64 ? Layout::Chunks
                                                : Layout::Thread;
  }
  if (!rows.by_group()) return Layout::Thread;
  return rows.inner == 1 ? Layout::Tiles : Layout::Chunks;
}

void scan(Scan op, const Tensor& self, int64_t dim, const Tensor& out,
          const Tensor& indices = {}) {
  const Rows rows = rows_along(self, dim);
  if (self.numel() == 0) return;
  const DType result = wgsl::dtype_of(out.scalar_type());
  Tensor a = self;
  if (!is_direct(op, wgsl::dtype_of(a.scalar_type()), result)) {
    a = a.to(out.scalar_type());
  }
  a = a.contiguous();
  const RowTarget target(out, rows, {&a});
  const Tensor& o = target.tensor();
  const Tensor q = !indices.defined() || (indices.is_contiguous() &&
                                          !same_buffer(indices, a) &&
                                          !same_buffer(indices, o))
                       ? indices
                       : at::empty(indices.sizes(), indices.options());
  Variant v{op,
            wgsl::dtype_of(a.scalar_type()),
            wgsl::dtype_of(o.scalar_type()),
            choose(profile(), rows),
            rows.inner == 1 && rows.count % 4 == 0 && have_quads({&a, &o, &q}),
            0,
            windows_of(a),
            windows_of(o),
            q.defined() ? windows_of(q) : uint8_t(1)};
  const uint32_t unit = v.wide ? 4 : lanes_of(v.o);
  ScanParams p;
  p.rows = uint32_t(rows.rows());
  p.count = rows.count;
  p.inner = rows.inner;
  p.blocks = 1;
  p.chunk = rows.count;
  p.a_offset = offset_of(a);
  p.o_offset = offset_of(o);
  p.q_offset = q.defined() ? offset_of(q) : 0;
  const bool by_group = v.layout != Layout::Thread;
  if (by_group) {
    p.blocks =
        uint32_t(std::clamp<uint64_t>(rows.count / kBlock, 1, kMaxBlocks));
    if (rows.rows() >= kMaxBlocks) p.blocks = 1;
    // Whole words and units for each thread.
    const uint64_t share = ceil_div(rows.count, p.blocks * kWorkgroup);
    p.chunk = uint32_t(ceil_div(share, unit)) * unit;
  }
  p.block = p.chunk * kWorkgroup;
  const uint64_t workgroups = by_group
                                  ? rows.rows() * p.blocks
                                  : ceil_div(rows.rows(), uint64_t(kWorkgroup));
  c10::SmallVector<const at::TensorBase*, 4> bound{&a, &o};
  if (q.defined()) bound.push_back(&q);
  Tensor totals;
  if (p.blocks > 1) {
    totals = at::empty({int64_t(workgroups) * 4}, a.options().dtype(at::kInt));
    launch(totals_family(totals_of(v)), {&a, &totals}, p, workgroups);
    v.blocked = 1;
    bound.push_back(&totals);
  }
  launch_bytes(family(v), {bound.data(), bound.size()},
               std::as_bytes(std::span(&p, 1)), workgroups);
  if (q.defined() && !q.is_same(indices)) indices.copy_(q);
  target.finish();
}

Scan sum_for(const Tensor& out) {
  return at::isFloatingType(out.scalar_type()) ? Scan::ExactSum : Scan::Sum;
}

template <bool product>
Tensor& cumulative_out(const Tensor& self, int64_t dim,
                       std::optional<ScalarType> dtype, Tensor& out) {
  if (dtype) check_result_dtype(out, *dtype);
  resize_out(out, self.sizes());
  scan(product ? Scan::Prod : sum_for(out), self, dim, out);
  return out;
}

Tensor& logcumsumexp_out(const Tensor& self, int64_t dim, Tensor& out) {
  TORCH_CHECK(at::isFloatingType(self.scalar_type()),
              "logcumsumexp: expected a floating point tensor, got ",
              self.scalar_type());
  check_result_dtype(out, self.scalar_type());
  resize_out(out, self.sizes());
  scan(Scan::LogSumExp, self, dim, out);
  return out;
}

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  Tensor out = at::empty_like(self, at::MemoryFormat::Contiguous);
  return logcumsumexp_out(self, dim, out);
}

template <bool max>
void extreme_helper(const Tensor& self, Tensor& values, Tensor& indices,
                    int64_t dim) {
  scan(max ? Scan::Max : Scan::Min, self, dim, values, indices);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"cumsum.out", &cumulative_out<false>, takes_native>(m);
  native<"cumprod.out", &cumulative_out<true>, takes_native>(m);
  native<"_logcumsumexp", &logcumsumexp, takes_native>(m);
  native<"_logcumsumexp.out", &logcumsumexp_out, takes_native>(m);
  native<"_cummax_helper", &extreme_helper<true>, takes_native_at<0>>(m);
  native<"_cummin_helper", &extreme_helper<false>, takes_native_at<0>>(m);
}

}  // namespace torch_webgpu::ops
