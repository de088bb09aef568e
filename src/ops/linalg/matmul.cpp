// The matrix products' kernels: one family for every dtype, layout and shape.
#include "ops/linalg/matmul.h"

#include <ATen/ops/empty_like.h>
#include <fmt/format.h>

#include "hal/device.h"
#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/pointwise/pointwise.h"
#include "ops/runtime/subgroups.h"

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
  Tile,      // workgroup memory
  Subgroup,  // broadcasts
  Vector,    // one of the operands is a vector
  Integer,
};

enum class Bias : uint8_t { None, Own, InPlace };

// What lies side by side in memory: along the sum, or along the result.
enum class Order : uint8_t { Inner, Outer };

struct MatmulVariant {
  uint8_t plan, dtype, bias;
  uint8_t atomic;            // elements of out share words between threads
  uint8_t order_a, order_b;  // Order; Plan::Tile, and `a` for Plan::Vector
  uint8_t size;              // lanes of a subgroup, or rows of Plan::Vector
  uint8_t windows_a, windows_b, windows_c, windows_o;
  static constexpr uint8_t MatmulVariant::* kWindows[] = {
      &MatmulVariant::windows_a, &MatmulVariant::windows_b,
      &MatmulVariant::windows_c, &MatmulVariant::windows_o};
};

wgsl::KernelText describe(const MatmulVariant& v) {
  constexpr const char* kFiles[] = {"matmul_tile", "matmul_subgroup", "matvec",
                                    "matmul_int"};
  const auto plan = static_cast<Plan>(v.plan);
  const auto dtype = static_cast<DType>(v.dtype);
  const auto bias = static_cast<Bias>(v.bias);
  const bool outer_a = v.order_a == uint8_t(Order::Outer);
  const bool outer_b = v.order_b == uint8_t(Order::Outer);
  const bool integer = plan == Plan::Integer;
  wgsl::KernelText text;
  text.file = kFiles[v.plan];
  text.label = fmt::format("{}_{}", text.file, wgsl::name_of(dtype));
  text.operands = {{"a", dtype, Mode::Read, v.windows_a, ""},
                   {"b", dtype, Mode::Read, v.windows_b, ""}};
  if (bias == Bias::Own) {
    text.label += "_bias";
    text.operands.push_back({"c", dtype, Mode::Read, v.windows_c, ""});
  }
  text.operands.push_back(
      {"o", dtype, v.atomic ? Mode::Scatter : Mode::Write, v.windows_o, ""});
  if (bias == Bias::InPlace) {
    text.label += "_inplace";
    text.operands.push_back({"c", dtype, Mode::Shared, 1, "o"});
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
  switch (plan) {
    case Plan::Tile: {
      const auto orders = [&](const char* inner, const char* outer, bool swap) {
        set(inner, swap ? "e / 64u" : "e % 16u");
        set(outer, swap ? "e % 64u" : "e / 16u");
      };
      orders("inner_a", "outer_a", outer_a);
      orders("inner_b", "outer_b", outer_b);
      text.label +=
          fmt::format("_{}{}", outer_a ? 't' : 'n', outer_b ? 'n' : 't');
      repeat(4);
      break;
    }
    case Plan::Subgroup:
      text.subgroups = true;
      text.label += fmt::format("_x{}", v.size);
      set("size", std::to_string(v.size));
      repeat(v.size);
      break;
    case Plan::Vector: {
      const uint32_t parts = 64 / v.size;
      const uint32_t fast = outer_a ? v.size : parts;
      text.label += fmt::format("_{}{}", outer_a ? "cols" : "rows", v.size);
      set("rows", std::to_string(v.size));
      set("parts", std::to_string(parts));
      set("part", fmt::format("lane {} {}u", outer_a ? '/' : '%', fast));
      set("row", fmt::format("lane {} {}u", outer_a ? '%' : '/', fast));
      set("step", std::to_string(outer_a ? v.size : 1));
      break;
    }
    case Plan::Integer:
      set("workgroup", std::to_string(kWorkgroup));
      break;
  }
  if (v.atomic) text.label += "_atomic";
  text.label += fmt::format("_w{}{}{}{}", v.windows_a, v.windows_b, v.windows_c,
                            v.windows_o);
  return text;
}

std::vector<MatmulVariant> enumerate() {
  std::vector<MatmulVariant> all;
  const auto add = [&](Plan plan, DType dtype, uint8_t order_a, uint8_t order_b,
                       uint8_t size) {
    for (uint8_t bias = 0; bias < 3; ++bias) {
      for (uint8_t atomic = 0; atomic < 2; ++atomic) {
        const bool narrow = wgsl::lanes_of(dtype) > 1;
        if (atomic ? !narrow : narrow && plan >= Plan::Vector) continue;
        all.push_back({uint8_t(plan), uint8_t(dtype), bias, atomic, order_a,
                       order_b, size, 1, 1, 1, 1});
      }
    }
  };
  for (const DType dtype : wgsl::kFloats) {
    for (uint8_t order = 0; order < 4; ++order) {
      add(Plan::Tile, dtype, order & 1, order >> 1, 0);
    }
    add(Plan::Subgroup, dtype, 0, 0, 4);
    add(Plan::Subgroup, dtype, 0, 0, 8);
    add(Plan::Vector, dtype, 0, 0, 1);
    add(Plan::Vector, dtype, 0, 0, 4);
    add(Plan::Vector, dtype, 1, 0, 16);
  }
  for (const DType dtype : wgsl::kInts)
    add(Plan::Integer, dtype, 0, 0, 0);
  return all;
}

Family<MatmulVariant> family(describe, enumerate);

// The lanes of the subgroup kernel, 0 for the tiled one: on a GPU, workgroup
// memory serves better than broadcasts.
uint8_t broadcast_lanes() {
  static const uint8_t lanes = [] {
    if (device().info().adapter_type != "cpu") return uint8_t(0);
    const uint32_t size = subgroup_lanes();
    return uint8_t(size == 4 || size == 8 ? size : 0);
  }();
  return lanes;
}

// A matrix or a stack of them, as a kernel's parameters see it.
struct View {
  explicit View(const at::Tensor& t)
      : offset(offset_of(t)),
        batch(uint32_t(t.stride(0))),
        row(uint32_t(t.stride(1))),
        col(uint32_t(t.stride(2))) {}
  View() = default;
  void transpose() { std::swap(row, col); }
  uint32_t offset = 0, batch = 0, row = 0, col = 0;
};

// True when each thread's columns (four, from a multiple of four on) fill
// whole words of out.
bool fills_words(const View& o, int64_t columns, uint32_t lanes) {
  return o.col == 1 && columns % lanes == 0 && o.row % lanes == 0 &&
         o.batch % lanes == 0 && o.offset % lanes == 0;
}

void run(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias,
         const at::Tensor& out, const c10::Scalar& beta,
         const c10::Scalar& alpha) {
  const DType dtype = wgsl::dtype_of(out.scalar_type());
  MatmulParams p;
  View va(a), vb(b), vo(out), vc;
  if (bias.defined()) vc = View(bias);
  p.m = uint32_t(out.size(1));
  p.n = uint32_t(out.size(2));
  p.k = uint32_t(a.size(2));
  const at::Tensor* first = &a;
  const at::Tensor* second = &b;

  MatmulVariant v{};
  const auto plan = !wgsl::is_float(dtype)   ? Plan::Integer
                    : p.m == 1 || p.n == 1   ? Plan::Vector
                    : broadcast_lanes() != 0 ? Plan::Subgroup
                                             : Plan::Tile;
  uint32_t tile_m = 1, tile_n = 1;
  const uint32_t lanes = wgsl::lanes_of(dtype);
  bool owns_words = lanes == 1;
  switch (plan) {
    case Plan::Integer:
      p.value_alpha = encode(alpha, dtype);
      p.value_beta = encode(beta, dtype);
      break;
    case Plan::Vector:
      if (p.n != 1) {  // x @ b is b.t() @ x
        std::swap(p.m, p.n);
        std::swap(va, vb);
        std::swap(first, second);
        for (View* view : {&va, &vb, &vc, &vo})
          view->transpose();
      }
      v.order_a = p.m > 1 && va.row == 1 && va.col != 1;
      v.size = v.order_a ? 16 : p.m >= 4 ? 4 : 1;
      tile_m = v.size;
      break;
    case Plan::Subgroup:
      v.size = broadcast_lanes();
      tile_m = v.size;
      tile_n = 4 * v.size;
      owns_words = owns_words || fills_words(vo, p.n, lanes);
      break;
    case Plan::Tile:
      v.order_a = va.col != 1;
      v.order_b = vb.row != 1;
      tile_m = tile_n = 64;
      owns_words = owns_words || fills_words(vo, p.n, lanes);
      break;
  }
  v.plan = uint8_t(plan);
  v.dtype = uint8_t(dtype);
  v.atomic = !owns_words;
  v.bias = uint8_t(!bias.defined()          ? Bias::None
                   : same_buffer(bias, out) ? Bias::InPlace
                                            : Bias::Own);
  v.windows_a = windows_of(*first);
  v.windows_b = windows_of(*second);
  v.windows_c = v.bias == uint8_t(Bias::Own) ? windows_of(bias) : 1;
  v.windows_o = windows_of(out);

  if (plan != Plan::Integer) {
    p.alpha = alpha.to<float>();
    p.beta = beta.to<float>();
  }
  p.tiles_m = uint32_t(ceil_div(p.m, tile_m));
  p.tiles_n = uint32_t(ceil_div(p.n, tile_n));
  p.tiles = uint32_t(p.tiles_m * p.tiles_n * out.size(0));
  p.offset_a = va.offset, p.batch_a = va.batch;
  p.row_a = va.row, p.col_a = va.col;
  p.offset_b = vb.offset, p.batch_b = vb.batch;
  p.row_b = vb.row, p.col_b = vb.col;
  p.offset_c = vc.offset, p.batch_c = vc.batch;
  p.row_c = vc.row, p.col_c = vc.col;
  p.offset_o = vo.offset, p.batch_o = vo.batch;
  p.row_o = vo.row, p.col_o = vo.col;
  const uint64_t workgroups =
      plan == Plan::Integer ? ceil_div(p.tiles, kWorkgroup) : p.tiles;
  const auto& kernel = family(v);
  if (v.bias == uint8_t(Bias::Own)) {
    launch(kernel, {first, second, &bias, &out}, p, workgroups);
  } else {
    launch(kernel, {first, second, &out}, p, workgroups);
  }
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
