// The text of the matrix products' kernels: one family for every dtype, layout
// and shape.
#include <fmt/format.h>

#include <functional>

#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/matmul_variant.h"

namespace torch_webgpu::ops::matmul {
namespace {

using wgsl::DType;
using wgsl::Mode;
using Set = std::function<void(const char*, std::string)>;

// The loader of `name` (see wgsl/lib/matmul.wgsl).
std::string loader(char name, Order order, bool wide) {
  return fmt::format("matmul_{}_{}{}", name,
                     order == Order::Inner ? "inner" : "outer",
                     wide ? "_wide" : "");
}

// The four quads of `name` at k, as columns by step. `start` is what
// matmul_x_start gave.
std::string block_of(char name, Order order, bool wide, const char* start) {
  const bool inner = order == Order::Inner;
  const auto load = loader(name, order, wide);
  std::string loads;
  for (int i = 0; i < 4; ++i) {
    loads += i == 0 ? "" : ", ";
    loads += inner ? fmt::format("{}({}[{}], k)", load, start, i)
                   : fmt::format("{}({}, k + {}u)", load, start, i);
  }
  const auto block = fmt::format("mat4x4<f32>({})", loads);
  return inner ? fmt::format("transpose({})", block) : block;
}

// How each lane gets its share of four steps of `a`, a quad for each of its
// slots, and gives it to the others.
void describe_broadcasts(const Variant& v, const Set& set) {
  const uint32_t lanes = v.lanes, groups = v.rows / 4;
  const uint32_t slots = std::max(v.rows / lanes, 1u);
  const bool inner = v.order_a == Order::Inner;
  const auto load = loader('a', v.order_a, v.wide_a);
  std::string starts, loads, broadcast;
  for (uint32_t slot = 0; slot < slots; ++slot) {
    // A tile of fewer rows than lanes has some of them loaded twice.
    const auto quad = fmt::format("((lane + {}u) % {}u)", slot * lanes, v.rows);
    const char* separator = slot == 0 ? "" : ", ";
    starts +=
        fmt::format("{}matmul_a_start(span.x, first + {})", separator,
                    inner ? quad : fmt::format("{} % {}u * 4u", quad, groups));
    loads += separator;
    loads += inner ? fmt::format("{}(start_a[{}].x, k)", load, slot)
                   : fmt::format("{}(start_a[{}], k + {} / {}u)", load, slot,
                                 quad, groups);
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
  set("slots", std::to_string(slots));
  set("starts_a", starts);
  set("loads_a", loads);
  set("broadcast", broadcast);
  set("block_b", block_of('b', v.order_b, v.wide_b, "start_b"));
}

void describe_tile(const Variant& v, const Set& set) {
  const uint32_t quads = v.rows / 4;
  // Threads side by side take what lies side by side in memory.
  const auto place = [&](const char* quad, const char* step, Order order,
                         const std::string& lane, uint32_t count) {
    const bool inner = order == Order::Inner;
    const uint32_t fast = inner ? 4 : count;
    set(quad, fmt::format("({} {} {}u)", lane, inner ? '/' : '%', fast));
    set(step, fmt::format("({} {} {}u)", lane, inner ? '%' : '/', fast));
  };
  place("quad_a", "step_a", v.order_a, fmt::format("(lane % {}u)", v.rows),
        quads);
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

void describe_vector(const Variant& v, wgsl::KernelText& text, const Set& set) {
  const Teams division(v);
  const auto& [threads, teams, parts] = division;
  const bool inner = v.order_a == Order::Inner;
  const bool one = v.rows == 1;
  const uint32_t fast = inner ? parts : teams;
  set("part", fmt::format("lane {} {}u", inner ? '%' : '/', fast));
  set("team", fmt::format("lane {} {}u", inner ? '/' : '%', fast));
  set("width", std::to_string(threads));
  set("teams", std::to_string(teams));
  set("parts", std::to_string(parts));
  set("rows", std::to_string(v.rows));
  set("wide_b", v.wide_b ? "_wide" : "");
  const auto block = block_of('a', v.order_a, v.wide_a, "start_a");
  set("steps", one ? fmt::format("fma({}(start_a.x, k), b, some)",
                                 loader('a', v.order_a, v.wide_a))
                   : fmt::format("matmul_steps(b, {}, some)", block));
  std::string fold = "sum";
  if (v.lanes != 0 && parts > 1) {
    text.subgroups = true;
    fold = "subgroupAdd(sum)";
  } else if (parts > 1) {
    text.hooks.emplace_back(
        "matvec_sums",
        fmt::format("var<workgroup> matvec_sums: array<vec4<f32>, {}>;\n",
                    threads));
    fold = fmt::format("matvec_fold(sum, lane, part, {}u, {}u)", parts,
                       inner ? 1 : teams);
  }
  set("fold",
      one ? fmt::format("vec4<f32>(dot({}, vec4<f32>(1.0)))", fold) : fold);
}

void add_operands(const Variant& v, wgsl::KernelText& text) {
  const auto width = [](uint8_t wide) {
    return wide ? wgsl::Width::Quad : wgsl::Width::Element;
  };
  const DType result = v.partial ? DType::F32 : v.dtype;
  const bool parts = v.plan == Plan::Parts;
  if (!parts) {
    text.operands.push_back(
        {"a", v.dtype, Mode::Read, v.windows_a, "", width(v.wide_a)});
  }
  text.operands.push_back({"b", parts ? DType::F32 : v.dtype, Mode::Read,
                           v.windows_b, "", width(v.wide_b)});
  if (v.bias == Bias::Own) {
    text.operands.push_back(
        {"c", v.dtype, Mode::Read, v.windows_c, "", width(v.wide_o)});
  }
  text.operands.push_back({"o", result, v.atomic ? Mode::Scatter : Mode::Write,
                           v.windows_o, "", width(v.wide_o)});
  if (v.bias == Bias::InPlace) {
    text.operands.push_back(
        {"c", v.dtype, Mode::Shared, 1, "o", width(v.wide_o)});
  }
  if (v.plan == Plan::Integer) {
    text.operands.push_back({"alpha", v.dtype, Mode::Scalar, 1, ""});
    text.operands.push_back({"beta", v.dtype, Mode::Scalar, 1, ""});
  }
}

void add_hooks(const Variant& v, wgsl::KernelText& text) {
  const auto add = [&](const char* name, const char* signature,
                       const char* body) {
    text.hooks.emplace_back(
        name, fmt::format("fn {}{} {{\n  {};\n}}\n", name, signature, body));
  };
  const bool none = v.bias == Bias::None;
  add("matmul_bias", "(at: u32) -> T",
      none                      ? "return t_zero()"
      : v.plan == Plan::Integer ? "return t_mul(load_beta(0u), load_c(at))"
                                : "return p.beta * load_c(at)");
  add("matmul_bias4", "(at: u32) -> vec4<f32>",
      none ? "return vec4<f32>()" : "return p.beta * load4_c(at)");
  constexpr const char* kActivations[] = {"return x", "return t_max(x, 0.0)",
                                          "return x * m_normal_cdf(x)"};
  add("matmul_activation", "(x: f32) -> f32", kActivations[v.activation]);
  add("matmul_write", "(at: u32, value: T)",
      v.atomic ? "scatter_o(at, value)" : "store_o(at, value)");
}

// The variant's name; small letters stand for operands element by element.
std::string label_of(const Variant& v, const std::string& file) {
  constexpr const char* kBiases[] = {"", "_bias", "_inplace"};
  constexpr const char* kActivations[] = {"", "_relu", "_gelu"};
  const auto letter = [](bool wide, bool first) {
    return char((wide ? 'A' : 'a') + (first ? 'n' : 't') - 'a');
  };
  auto label = fmt::format(
      "{}_{}{}{}{}_{}{}{}", file, wgsl::name_of(v.dtype),
      kBiases[uint8_t(v.bias)], kActivations[v.activation],
      v.partial ? "_partial" : "", letter(v.wide_a, v.order_a == Order::Inner),
      letter(v.wide_b, v.order_b == Order::Outer), v.wide_o ? "W" : "");
  if (v.rows != 0) label += fmt::format("_m{}", v.rows);
  if (v.lanes != 0) label += fmt::format("_x{}", v.lanes);
  if (v.atomic) label += "_atomic";
  return label + fmt::format("_w{}{}{}{}", v.windows_a, v.windows_b,
                             v.windows_c, v.windows_o);
}

wgsl::KernelText describe(const Variant& v) {
  constexpr const char* kFiles[] = {"matmul_tile", "matmul_subgroup", "matvec",
                                    "matmul_int", "matmul_parts"};
  wgsl::KernelText text;
  text.file = kFiles[uint8_t(v.plan)];
  text.label = label_of(v, text.file);
  text.compute = wgsl::compute_of(v.dtype);
  text.params = Params::wgsl();
  add_operands(v, text);
  add_hooks(v, text);
  const auto set = [&](const char* key, std::string with) {
    text.substitutions.emplace_back(key, std::move(with));
  };
  const auto repeat = [&](int count) {
    for (int i = 0; i < count; ++i)
      text.repeat.push_back(std::to_string(i));
  };
  const char* wide_o = v.wide_o ? "_wide" : "";
  switch (v.plan) {
    case Plan::Tile:
      describe_tile(v, set);
      set("wide_o", wide_o);
      repeat(v.rows / 16);
      break;
    case Plan::Subgroup:
      text.subgroups = true;
      describe_broadcasts(v, set);
      set("wide_o", wide_o);
      repeat(v.rows);
      break;
    case Plan::Vector:
      describe_vector(v, text, set);
      break;
    case Plan::Integer:
      set("workgroup", std::to_string(kWorkgroup));
      break;
    case Plan::Parts:
      set("workgroup", std::to_string(kWorkgroup));
      set("wide_b", v.wide_b ? "_wide" : "");
      set("wide_o", wide_o);
      break;
  }
  return text;
}

constexpr int kNone = 0, kAll = 7;  // which of a, b and o are wide
constexpr int kRows = 2;            // orders of two matrices stored by rows

// One kernel with each kind of bias, with each activation, and partial.
void list(std::vector<Variant>& all, Plan plan, DType dtype, int orders,
          int wide, uint8_t rows, uint8_t lanes) {
  Variant v{};
  v.plan = plan;
  v.dtype = dtype;
  v.order_a = static_cast<Order>(orders & 1);
  v.order_b = static_cast<Order>(orders >> 1);
  v.rows = rows;
  v.lanes = lanes;
  v.wide_a = wide & 1, v.wide_b = wide >> 1 & 1, v.wide_o = wide >> 2;
  v.atomic = wgsl::lanes_of(dtype) > 1 && !v.wide_o;
  v.windows_a = v.windows_b = v.windows_c = v.windows_o = 1;
  for (const Bias bias : {Bias::None, Bias::Own, Bias::InPlace}) {
    v.bias = bias;
    all.push_back(v);
  }
  if (plan == Plan::Integer) return;
  v.bias = Bias::None;
  for (const auto activation : {Activation::Relu, Activation::Gelu}) {
    v.activation = uint8_t(activation);
    all.push_back(v);
  }
  if (plan == Plan::Parts) return;
  v.activation = 0;
  v.partial = 1;
  v.atomic = 0;
  all.push_back(v);
}

std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  for (const DType dtype : wgsl::kFloats) {
    for (const int wide : {kNone, kAll}) {
      for (int orders = 0; orders < 4; ++orders) {
        list(all, Plan::Tile, dtype, orders, wide, 64, 0);
        list(all, Plan::Subgroup, dtype, orders, wide, 8, 8);
      }
      list(all, Plan::Tile, dtype, kRows, wide, 128, 0);
      for (const uint8_t rows : {4, 16, 32})
        list(all, Plan::Subgroup, dtype, kRows, wide, rows, 8);
      list(all, Plan::Subgroup, dtype, kRows, wide, 8, 4);
      for (const uint8_t lanes : {0, 8}) {
        for (const auto& [order, rows] : {std::pair{0, 1}, {0, 4}, {1, 4}}) {
          list(all, Plan::Vector, dtype, order, wide & 3, uint8_t(rows), lanes);
        }
      }
      list(all, Plan::Parts, dtype, kRows, wide & 6, 0, 0);
    }
  }
  for (const DType dtype : wgsl::kInts)
    list(all, Plan::Integer, dtype, 0, kNone, 0, 0);
  return all;
}

// A load, a store, a bias and an activation are functions of their own, so not
// all of their combinations are listed; nor is each order in each size.
Variant representative(Variant v) {
  if (v.activation != 0) v.bias = Bias::None;
  switch (v.plan) {
    case Plan::Tile:
    case Plan::Subgroup:
      v.wide_a = v.wide_b = v.wide_o;
      if (v.lanes == 4) v.rows = 8;
      if (v.rows != (v.plan == Plan::Tile ? 64 : 8) || v.lanes == 4) {
        v.order_a = Order::Inner;
        v.order_b = Order::Outer;
      }
      break;
    case Plan::Vector:
      v.wide_b = v.wide_a;
      if (v.lanes == 4) v.lanes = 8;
      break;
    case Plan::Parts:
      v.wide_b = v.wide_o;
      break;
    case Plan::Integer:
      break;
  }
  return v;
}

Family<Variant> family(describe, enumerate, representative);

}  // namespace

const hal::Kernel& kernel_of(const Variant& v) {
  return family(v);
}

}  // namespace torch_webgpu::ops::matmul
