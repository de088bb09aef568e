// The matrix products' kernels: one family for every dtype, layout and shape.
#include "ops/linalg/matmul.h"

#include <ATen/ops/empty_like.h>
#include <fmt/format.h>

#include <functional>
#include <tuple>

#include "hal/device.h"
#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/kernel/profile.h"
#include "ops/pointwise/pointwise.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::DType;
using wgsl::Mode;

// clang-format off
#define MATMUL_PARAMS(X) \
  X(u64, value_alpha) \
  X(u64, value_beta) \
  X(f32, alpha) \
  X(f32, beta) \
  X(u32, m) \
  X(u32, n) \
  X(u32, k) \
  X(u32, tiles) \
  X(u32, tiles_m) \
  X(u32, tiles_n) \
  X(u32, offset_a) \
  X(u32, batch_a) \
  X(u32, row_a) \
  X(u32, col_a) \
  X(u32, offset_b) \
  X(u32, batch_b) \
  X(u32, row_b) \
  X(u32, col_b) \
  X(u32, offset_c) \
  X(u32, batch_c) \
  X(u32, row_c) \
  X(u32, col_c) \
  X(u32, offset_o) \
  X(u32, batch_o) \
  X(u32, row_o) \
  X(u32, col_o)
// clang-format on
WEBGPU_PARAMS(MatmulParams, MATMUL_PARAMS);

enum class Plan : uint8_t {
  Tile,      // workgroup memory: GPUs
  Subgroup,  // broadcasts: CPUs
  Vector,    // one of the operands is a vector
  Integer,
  Parts,  // adds what the parts of a long sum gave
};

enum class Bias : uint8_t { None, Own, InPlace };

// What lies side by side in memory: along the sum, or along the result.
enum class Order : uint8_t { Inner, Outer };

struct MatmulVariant {
  uint8_t plan, dtype, bias;
  uint8_t atomic;            // elements of out share words between threads
  uint8_t order_a, order_b;  // Order
  uint8_t rows;              // of a tile; of a workgroup for Plan::Vector
  uint8_t lanes;             // of a subgroup
  // Quads are loaded, and stored (with the bias) to out.
  uint8_t wide_a, wide_b, wide_o;
  uint8_t windows_a, windows_b, windows_c, windows_o;
  static constexpr uint8_t MatmulVariant::* kWindows[] = {
      &MatmulVariant::windows_a, &MatmulVariant::windows_b,
      &MatmulVariant::windows_c, &MatmulVariant::windows_o};
};

// The four quads of `name` at k, as columns by step. `start` is what
// matmul_x_start gave.
std::string block_of(char name, uint8_t order, bool wide, const char* start) {
  const auto load = [&](const char* from, const std::string& k) {
    return fmt::format("matmul_{}_{}{}({}, {})", name,
                       order == uint8_t(Order::Inner) ? "inner" : "outer",
                       wide ? "_wide" : "", from, k);
  };
  std::string loads;
  for (int i = 0; i < 4; ++i) {
    const std::string separator = i == 0 ? "" : ", ";
    loads +=
        separator + (order == uint8_t(Order::Inner)
                         ? load(fmt::format("{}[{}]", start, i).c_str(), "k")
                         : load(start, fmt::format("k + {}u", i)));
  }
  const auto block = fmt::format("mat4x4<f32>({})", loads);
  return order == uint8_t(Order::Inner) ? fmt::format("transpose({})", block)
                                        : block;
}

using Set = std::function<void(const char*, std::string)>;

// How each lane gets its share of four steps of `a`, a quad for each of
// rows / lanes slots, and gives it to the others.
void describe_broadcasts(const MatmulVariant& v, const Set& set) {
  const uint32_t lanes = v.lanes, groups = v.rows / 4;
  const bool inner = v.order_a == uint8_t(Order::Inner);
  std::string starts, loads, broadcast;
  for (uint32_t slot = 0; slot < v.rows / lanes; ++slot) {
    const auto quad = fmt::format("(lane + {}u)", slot * lanes);
    starts +=
        fmt::format("{}matmul_a_start(place.z, first + {})", slot ? ", " : "",
                    inner ? quad : fmt::format("{} % {}u * 4u", quad, groups));
    loads += fmt::format("{}matmul_a_{}{}(start_a[{}]{}, k{})",
                         slot ? ", " : "", inner ? "inner" : "outer",
                         v.wide_a ? "_wide" : "", slot, inner ? ".x" : "",
                         inner ? "" : fmt::format(" + {} / {}u", quad, groups));
  }
  if (inner) {
    broadcast =
        fmt::format("subgroupBroadcast(a[row / {0}u], row % {0}u)", lanes);
  } else {
    for (uint32_t step = 0; step < 4; ++step) {
      const auto quad = fmt::format("(row / 4u + {}u)", step * groups);
      broadcast +=
          fmt::format("{}subgroupBroadcast(a[{} / {}u][row % 4u], {} % {}u)",
                      step ? ", " : "vec4<f32>(", quad, lanes, quad, lanes);
    }
    broadcast += ")";
  }
  set("lanes", std::to_string(lanes));
  set("rows", std::to_string(v.rows));
  set("slots", std::to_string(v.rows / lanes));
  set("starts_a", starts);
  set("loads_a", loads);
  set("broadcast", broadcast);
  set("block_b", block_of('b', v.order_b, v.wide_b, "start_b"));
}

void describe_tile(const MatmulVariant& v, const Set& set) {
  const uint32_t quads = v.rows / 4;
  // Threads side by side take what lies side by side in memory.
  const auto place = [&](const char* quad, const char* step, uint8_t order,
                         const char* lane, uint32_t count) {
    const bool inner = order == uint8_t(Order::Inner);
    const uint32_t fast = inner ? 4 : count;
    set(quad, fmt::format("({} {} {}u)", lane, inner ? '/' : '%', fast));
    set(step, fmt::format("({} {} {}u)", lane, inner ? '%' : '/', fast));
  };
  place("quad_a", "step_a", v.order_a,
        fmt::format("(lane % {}u)", v.rows).c_str(), quads);
  place("quad_b", "step_b", v.order_b, "(lane % 64u)", 16);
  set("block_a", block_of('a', v.order_a, v.wide_a, "start"));
  set("block_b", block_of('b', v.order_b, v.wide_b, "start"));
  set("tile", std::to_string(v.rows));
  set("rows", std::to_string(v.rows / 16));
  set("loads_a", std::to_string(v.rows));
  set("quads_a", std::to_string(quads));
  set("half_a", std::to_string(16 * quads));
  set("size_a", std::to_string(32 * quads));
  set("quads", std::to_string(v.rows / 64));
  std::string reads = "slice_a[at + swizzle(row, step)]";
  if (v.rows == 128) reads += ", slice_a[at + swizzle(row + 16u, step)]";
  set("reads_a", reads);
}

wgsl::KernelText describe(const MatmulVariant& v) {
  constexpr const char* kFiles[] = {"matmul_tile", "matmul_subgroup", "matvec",
                                    "matmul_int", "matmul_parts"};
  const auto plan = static_cast<Plan>(v.plan);
  const auto dtype = static_cast<DType>(v.dtype);
  const auto bias = static_cast<Bias>(v.bias);
  const bool outer_a = v.order_a == uint8_t(Order::Outer);
  const bool outer_b = v.order_b == uint8_t(Order::Outer);
  const bool integer = plan == Plan::Integer;
  const auto width = [](uint8_t wide) {
    return wide ? wgsl::Width::Quad : wgsl::Width::Element;
  };
  wgsl::KernelText text;
  text.file = kFiles[v.plan];
  text.label = fmt::format("{}_{}", text.file, wgsl::name_of(dtype));
  text.operands = {{"a", plan == Plan::Parts ? DType::F32 : dtype, Mode::Read,
                    v.windows_a, "", width(v.wide_a)}};
  if (plan != Plan::Parts) {
    text.operands.push_back(
        {"b", dtype, Mode::Read, v.windows_b, "", width(v.wide_b)});
  }
  if (bias == Bias::Own) {
    text.label += "_bias";
    text.operands.push_back(
        {"c", dtype, Mode::Read, v.windows_c, "", width(v.wide_o)});
  }
  text.operands.push_back({"o", dtype, v.atomic ? Mode::Scatter : Mode::Write,
                           v.windows_o, "", width(v.wide_o)});
  if (bias == Bias::InPlace) {
    text.label += "_inplace";
    text.operands.push_back(
        {"c", dtype, Mode::Shared, 1, "o", width(v.wide_o)});
  }
  if (integer) {
    text.operands.push_back({"alpha", dtype, Mode::Scalar, 1, ""});
    text.operands.push_back({"beta", dtype, Mode::Scalar, 1, ""});
  }
  text.compute = wgsl::compute_of(dtype);
  text.params = MatmulParams::wgsl();
  const char* value =
      integer ? "t_mul(load_beta(0u), load_c(at_c))" : "p.beta * load_c(at)";
  const char* zero = integer ? "t_zero()" : "0.0";
  text.substitutions = {{"bias", bias == Bias::None ? zero : value},
                        {"store", v.atomic ? "scatter" : "store"}};
  const auto set = [&](const char* key, std::string with) {
    text.substitutions.emplace_back(key, std::move(with));
  };
  const auto repeat = [&](int count) {
    for (int i = 0; i < count; ++i)
      text.repeat.push_back(std::to_string(i));
  };
  if (plan == Plan::Tile || plan == Plan::Subgroup) {
    const bool biased = v.wide_o && bias != Bias::None;
    set("bias4", biased ? "p.beta * load4_c(at)" : "vec4<f32>()");
    set("wide_o", v.wide_o ? "_wide" : "");
    const auto letter = [](bool wide, bool first) {
      return char((wide ? 'A' : 'a') + (first ? 'n' : 't') - 'a');
    };
    text.label +=
        fmt::format("_{}{}{}_m{}", letter(v.wide_a, !outer_a),
                    letter(v.wide_b, outer_b), v.wide_o ? "W" : "", v.rows);
  }
  switch (plan) {
    case Plan::Tile:
      describe_tile(v, set);
      repeat(v.rows / 16);
      break;
    case Plan::Subgroup:
      text.subgroups = true;
      text.label += fmt::format("_x{}", v.lanes);
      describe_broadcasts(v, set);
      repeat(v.rows);
      break;
    case Plan::Vector: {
      const uint32_t parts = 64 / v.rows;
      const uint32_t fast = outer_a ? v.rows : parts;
      text.label += fmt::format("_{}{}", outer_a ? "cols" : "rows", v.rows);
      set("rows", std::to_string(v.rows));
      set("parts", std::to_string(parts));
      set("part", fmt::format("lane {} {}u", outer_a ? '/' : '%', fast));
      set("row", fmt::format("lane {} {}u", outer_a ? '%' : '/', fast));
      set("step", std::to_string(outer_a ? v.rows : 1));
      break;
    }
    case Plan::Integer:
    case Plan::Parts:
      set("workgroup", std::to_string(kWorkgroup));
      break;
  }
  if (v.atomic) text.label += "_atomic";
  text.label += fmt::format("_w{}{}{}{}", v.windows_a, v.windows_b, v.windows_c,
                            v.windows_o);
  return text;
}

// Representatives: every plan, order, dtype and bias; each operand wide or not,
// but not all of their combinations.
std::vector<MatmulVariant> enumerate() {
  std::vector<MatmulVariant> all;
  const auto add = [&](Plan plan, DType dtype, int orders, int wide,
                       uint8_t rows, uint8_t lanes) {
    for (uint8_t bias = 0; bias < 3; ++bias) {
      for (uint8_t atomic = 0; atomic < 2; ++atomic) {
        const bool narrow = wgsl::lanes_of(dtype) > 1;
        const bool wide_o = wide & 4;
        if (atomic ? !narrow || wide_o : narrow && !wide_o) continue;
        all.push_back({uint8_t(plan), uint8_t(dtype), bias, atomic,
                       uint8_t(orders & 1), uint8_t(orders >> 1), rows, lanes,
                       uint8_t(wide & 1), uint8_t(wide >> 1 & 1), wide_o, 1, 1,
                       1, 1});
      }
    }
  };
  constexpr int kAll = 7;
  for (const DType dtype : wgsl::kFloats) {
    for (int orders = 0; orders < 4; ++orders) {
      for (const int wide : {0, kAll}) {
        add(Plan::Tile, dtype, orders, wide, 64, 0);
        add(Plan::Subgroup, dtype, orders, wide, 8, 8);
      }
      add(Plan::Tile, dtype, orders, kAll, 128, 0);
    }
    add(Plan::Subgroup, dtype, 2, kAll, 8, 4);
    add(Plan::Subgroup, dtype, 2, kAll, 32, 8);
    add(Plan::Subgroup, dtype, 1, 1, 16, 8);
    add(Plan::Subgroup, dtype, 0, 6, 16, 8);
    add(Plan::Vector, dtype, 0, 0, 1, 0);
    add(Plan::Vector, dtype, 0, 0, 4, 0);
    add(Plan::Vector, dtype, 1, 0, 16, 0);
    add(Plan::Parts, dtype, 0, 0, 0, 0);
  }
  for (const DType dtype : wgsl::kInts)
    add(Plan::Integer, dtype, 0, 0, 0, 0);
  return all;
}

Family<MatmulVariant> family(describe, enumerate);

// A matrix or a stack of them, as a kernel's parameters see it.
struct View {
  explicit View(const at::Tensor& t)
      : offset(uint32_t(t.storage_offset())),
        batch(uint32_t(t.stride(0))),
        row(uint32_t(t.stride(1))),
        col(uint32_t(t.stride(2))) {}
  View() = default;
  void transpose() { std::swap(row, col); }
  // Elements along columns (rows), `count` of them, are whole quads.
  bool quads_in_rows(uint32_t count) const {
    return col == 1 && (offset | batch | row | count) % 4 == 0;
  }
  bool quads_in_cols(uint32_t count) const {
    return row == 1 && (offset | batch | col | count) % 4 == 0;
  }
  uint32_t offset = 0, batch = 0, row = 0, col = 0;
};

// What is multiplied, in the order that the kernel shall see.
struct Problem {
  Problem(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias,
          const at::Tensor& out)
      : first(&a),
        second(&b),
        va(a),
        vb(b),
        vo(out),
        m(uint32_t(out.size(1))),
        n(uint32_t(out.size(2))),
        k(uint32_t(a.size(2))),
        batch(uint32_t(out.size(0))),
        biased(bias.defined()) {
    if (bias.defined()) vc = View(bias);
  }
  // (a @ b).t() is b.t() @ a.t()
  void transpose() {
    std::swap(m, n);
    std::swap(va, vb);
    std::swap(first, second);
    for (View* view : {&va, &vb, &vc, &vo})
      view->transpose();
  }
  const at::Tensor *first, *second;
  View va, vb, vc, vo;
  uint32_t m, n, k, batch;
  bool biased;
};

// The rows of the subgroup kernel's tile and the time of all tiles, in about
// the time that a row of a large tile takes (measured on lavapipe).
struct TileChoice {
  uint8_t rows;
  double cost;
};
TileChoice best_tile(uint32_t m, uint32_t n, uint32_t batch, uint32_t lanes) {
  constexpr std::pair<uint8_t, double> kCosts[] = {
      {uint8_t(8), 12.0}, {uint8_t(16), 18.5}, {uint8_t(32), 32.0}};
  TileChoice best{8, 0};
  for (const auto& [rows, cost] : kCosts) {
    const auto across = double(ceil_div(n, 4 * lanes)) * batch;
    const auto tiles = double(ceil_div(m, rows)) * across;
    // A few tiles for each core, or some of them have nothing to do.
    if (rows > 8 && tiles < 16) continue;
    if (best.cost == 0 || tiles * cost < best.cost) best = {rows, tiles * cost};
  }
  return best;
}

// Everything about a kernel that is a choice; may transpose the problem.
MatmulVariant choose(const Profile& profile, Problem& problem, DType dtype,
                     bool windowed) {
  MatmulVariant v{};
  v.dtype = uint8_t(dtype);
  const uint32_t lanes = wgsl::lanes_of(dtype);
  bool owns_words = lanes == 1;
  const bool broadcasts = profile.kind == Profile::Kind::Cpu &&
                          (profile.lanes == 4 || profile.lanes == 8);
  if (!wgsl::is_float(dtype)) {
    v.plan = uint8_t(Plan::Integer);
  } else if (problem.m == 1 || problem.n == 1) {
    v.plan = uint8_t(Plan::Vector);
    if (problem.n != 1) problem.transpose();
    const View& a = problem.va;
    v.order_a = problem.m > 1 && a.row == 1 && a.col != 1;
    v.rows = v.order_a ? 16 : problem.m >= 4 ? 4 : 1;
  } else {
    v.plan = uint8_t(broadcasts ? Plan::Subgroup : Plan::Tile);
    if (broadcasts) {
      v.lanes = uint8_t(profile.lanes);
      const auto as_is =
          best_tile(problem.m, problem.n, problem.batch, v.lanes);
      const auto turned =
          best_tile(problem.n, problem.m, problem.batch, v.lanes);
      const bool turn = turned.cost < 0.75 * as_is.cost;
      if (turn) problem.transpose();
      v.rows = turn ? turned.rows : as_is.rows;
    } else {
      // Twice the rows where these tiles fill the device all the same.
      const uint64_t tiles =
          ceil_div(problem.m, 128) * ceil_div(problem.n, 64) * problem.batch;
      const bool large =
          tiles >= 256 && device().info().limits.max_workgroup_storage >= 24576;
      v.rows = large ? 128 : 64;
    }
    v.order_a = problem.va.col != 1;
    v.order_b = problem.vb.row != 1;
    if (!windowed) {
      v.wide_a = v.order_a ? problem.va.quads_in_cols(problem.m)
                           : problem.va.quads_in_rows(problem.k);
      v.wide_b = v.order_b ? problem.vb.quads_in_rows(problem.n)
                           : problem.vb.quads_in_cols(problem.k);
      v.wide_o = problem.vo.quads_in_rows(problem.n) &&
                 (!problem.biased || problem.vc.quads_in_rows(problem.n));
    }
    owns_words = owns_words || v.wide_o;
  }
  v.atomic = !owns_words;
  return v;
}

// Rows and columns of a workgroup's tile.
std::pair<uint32_t, uint32_t> tile_of(const MatmulVariant& v) {
  switch (static_cast<Plan>(v.plan)) {
    case Plan::Tile:
      return {v.rows, 64};
    case Plan::Subgroup:
      return {v.rows, 4 * v.lanes};
    case Plan::Vector:
      return {v.rows, 1};
    default:
      return {1, 1};
  }
}

void launch_product(const MatmulVariant& v, const Problem& problem,
                    const at::Tensor& bias, const at::Tensor& out,
                    const c10::Scalar& beta, const c10::Scalar& alpha) {
  const auto plan = static_cast<Plan>(v.plan);
  const auto [tile_m, tile_n] = tile_of(v);
  MatmulParams p;
  if (plan == Plan::Integer) {
    p.value_alpha = encode(alpha, static_cast<DType>(v.dtype));
    p.value_beta = encode(beta, static_cast<DType>(v.dtype));
  } else {
    p.alpha = alpha.to<float>();
    p.beta = beta.to<float>();
  }
  p.m = problem.m, p.n = problem.n, p.k = problem.k;
  p.tiles_m = uint32_t(ceil_div(p.m, tile_m));
  p.tiles_n = uint32_t(ceil_div(p.n, tile_n));
  p.tiles = p.tiles_m * p.tiles_n * problem.batch;
  const auto& [va, vb, vc, vo] =
      std::tie(problem.va, problem.vb, problem.vc, problem.vo);
  p.offset_a = va.offset, p.batch_a = va.batch;
  p.row_a = va.row, p.col_a = va.col;
  p.offset_b = vb.offset, p.batch_b = vb.batch;
  p.row_b = vb.row, p.col_b = vb.col;
  p.offset_c = vc.offset, p.batch_c = vc.batch;
  p.row_c = vc.row, p.col_c = vc.col;
  p.offset_o = vo.offset, p.batch_o = vo.batch;
  p.row_o = vo.row, p.col_o = vo.col;
  const bool by_thread = plan == Plan::Integer || plan == Plan::Parts;
  const uint64_t workgroups =
      by_thread ? ceil_div(p.tiles, kWorkgroup) : p.tiles;
  c10::SmallVector<const at::TensorBase*, 4> tensors{problem.first};
  if (plan != Plan::Parts) tensors.push_back(problem.second);
  if (v.bias == uint8_t(Bias::Own)) tensors.push_back(&bias);
  tensors.push_back(&out);
  launch_bytes(family(v), tensors, std::as_bytes(std::span(&p, 1)), workgroups);
}

void run(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias,
         const at::Tensor& out, const c10::Scalar& beta,
         const c10::Scalar& alpha) {
  const DType dtype = wgsl::dtype_of(out.scalar_type());
  Problem problem(a, b, bias, out);
  const auto kind = !bias.defined()          ? Bias::None
                    : same_buffer(bias, out) ? Bias::InPlace
                                             : Bias::Own;
  const uint8_t windows_c = kind == Bias::Own ? windows_of(bias) : 1;
  const bool windowed = windows_of(a) > 1 || windows_of(b) > 1 ||
                        windows_of(out) > 1 || windows_c > 1;
  MatmulVariant v = choose(profile(), problem, dtype, windowed);
  v.bias = uint8_t(kind);
  v.windows_a = windows_of(*problem.first);
  v.windows_b = windows_of(*problem.second);
  v.windows_c = windows_c;
  v.windows_o = windows_of(out);
  launch_product(v, problem, bias, out, beta, alpha);
}

// True when both are the same elements in the same places.
bool same_view(const at::Tensor& a, const at::Tensor& b) {
  return a.storage_offset() == b.storage_offset() && a.strides() == b.strides();
}

}  // namespace

void batched_matmul(const at::Tensor& a, const at::Tensor& b,
                    const at::Tensor& bias, const at::Tensor& out,
                    const c10::Scalar& beta, const c10::Scalar& alpha) {
  if (out.numel() == 0) return;
  const bool biased = bias.defined() && beta.toComplexDouble() != 0.0;
  // A kernel cannot read what others write; only the bias in place is read by
  // the thread that writes it.
  if (same_buffer(a, out) || same_buffer(b, out) ||
      (biased && same_buffer(bias, out) && !same_view(bias, out))) {
    const at::Tensor result = at::empty_like(out, at::MemoryFormat::Contiguous);
    run(a, b, biased ? bias : at::Tensor(), result, beta, alpha);
    out.copy_(result);
    return;
  }
  run(a, b, biased ? bias : at::Tensor(), out, beta, alpha);
}

}  // namespace torch_webgpu::ops
