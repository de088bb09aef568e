// Which of the matrix products' kernels a problem gets.
#include "hal/device.h"
#include "ops/kernel/launch.h"
#include "ops/linalg/matmul_variant.h"

namespace torch_webgpu::ops::matmul {
namespace {

using wgsl::DType;

// When a sum is divided, so that all of the device has something to do.
struct Division {
  uint32_t wanted;  // tiles that fill the device
  uint32_t least;   // steps that are worth a part
  uint64_t work;    // products that are worth another kernel
};
Division division_of(const Profile& profile, Plan plan) {
  const uint64_t work = uint64_t{1} << (plan == Plan::Vector ? 18 : 22);
  return profile.kind == Profile::Kind::Cpu ? Division{16, 1024, work}
                                            : Division{256, 512, work};
}

uint32_t parts_of(const Division& division, uint64_t tiles, uint64_t work,
                  uint32_t k) {
  if (2 * tiles > division.wanted || work < division.work) return 1;
  const uint64_t parts =
      std::min<uint64_t>(division.wanted / tiles, k / division.least);
  return uint32_t(std::max<uint64_t>(parts, 1));
}

// The kernels take a part's first step to be a multiple of 256.
void divide(Problem& problem, uint32_t parts) {
  problem.part_k =
      uint32_t(std::max<uint64_t>(ceil_div(problem.k, parts * 256), 1) * 256);
  problem.parts =
      uint32_t(std::max<uint64_t>(ceil_div(problem.k, problem.part_k), 1));
}

// The rows of the subgroup kernel's tile and the time of all tiles, in about
// the time that a row of a large tile takes (measured on lavapipe). Large tiles
// take long to compile, so small products do without.
struct TileChoice {
  uint8_t rows = 0;
  uint32_t parts = 1;
  double cost = 0;
};
TileChoice best_tile(const Profile& profile, uint32_t m, uint32_t n, bool wide,
                     const Problem& problem) {
  struct Size {
    uint8_t rows;
    double cost;
    uint64_t work;
  };
  constexpr Size kSizes[] = {{4, 9.0, 0},
                             {8, 12.0, 0},
                             {16, 18.5, uint64_t{1} << 20},
                             {32, 32.0, uint64_t{1} << 24}};
  const auto division = division_of(profile, Plan::Subgroup);
  const uint64_t work = uint64_t{m} * n * problem.k * problem.batch;
  TileChoice best;
  for (const auto& size : kSizes) {
    const uint64_t tiles =
        ceil_div(m, size.rows) * ceil_div(n, 4 * profile.lanes) * problem.batch;
    const uint32_t parts = parts_of(division, tiles, work, problem.k);
    const bool small = tiles * parts < division.wanted || work < size.work;
    // Loads of single elements take so long that more rows gain nothing.
    if (size.rows > 16 && !wide) break;
    const double cost = double(tiles) * size.cost;
    if (best.rows == 0 || (!small && cost < best.cost))
      best = {size.rows, parts, cost};
  }
  return best;
}

void choose_vector(const Profile& profile, bool broadcasts, Problem& problem,
                   Variant& v) {
  v.plan = Plan::Vector;
  if (problem.n != 1) problem.transpose();
  const View& a = problem.va;
  v.order_a =
      problem.m > 1 && a.row == 1 && a.col != 1 ? Order::Outer : Order::Inner;
  v.rows = problem.m == 1 ? 1 : 4;
  v.lanes = broadcasts ? uint8_t(profile.lanes) : 0;
  const uint64_t tiles =
      ceil_div(problem.m, v.rows * Teams(v).teams) * problem.batch;
  divide(problem,
         parts_of(division_of(profile, v.plan), tiles,
                  uint64_t{problem.m} * problem.k * problem.batch, problem.k));
}

void choose_matrix(const Profile& profile, bool broadcasts, Problem& problem,
                   Variant& v) {
  const auto set_orders = [&] {
    v.order_a = problem.va.col != 1 ? Order::Outer : Order::Inner;
    v.order_b = problem.vb.row != 1 ? Order::Outer : Order::Inner;
  };
  set_orders();
  if (broadcasts) {
    const bool wide = problem.wide_a(v.order_a) && problem.wide_b(v.order_b);
    v.plan = Plan::Subgroup;
    v.lanes = uint8_t(profile.lanes);
    const auto as_is = best_tile(profile, problem.m, problem.n, wide, problem);
    const auto turned = best_tile(profile, problem.n, problem.m, wide, problem);
    const bool turn = turned.cost < 0.75 * as_is.cost;
    if (turn) {
      problem.transpose();
      set_orders();
    }
    const TileChoice& tile = turn ? turned : as_is;
    v.rows = tile.rows;
    divide(problem, tile.parts);
    return;
  }
  v.plan = Plan::Tile;
  // Twice the rows where these tiles fill the device all the same.
  const auto division = division_of(profile, v.plan);
  const uint64_t across = ceil_div(problem.n, 64) * problem.batch;
  const bool large = ceil_div(problem.m, 128) * across >= division.wanted &&
                     device().info().limits.max_workgroup_storage >= 24576;
  v.rows = large ? 128 : 64;
  divide(problem,
         parts_of(division, ceil_div(problem.m, v.rows) * across,
                  uint64_t{problem.m} * problem.n * problem.k * problem.batch,
                  problem.k));
}

}  // namespace

Problem::Problem(const at::Tensor& a, const at::Tensor& b,
                 const at::Tensor& bias, const at::Tensor& out)
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

void Problem::transpose() {
  std::swap(m, n);
  std::swap(va, vb);
  std::swap(first, second);
  for (View* view : {&va, &vb, &vc, &vo})
    view->transpose();
}

Teams::Teams(const Variant& v) : threads(v.lanes != 0 ? v.lanes : 64) {
  // On a GPU, threads side by side share both the rows and the sum, so that
  // their loads meet in cache lines and there are threads enough.
  const bool inner = v.order_a == Order::Inner;
  parts = v.rows == 1 || (inner && v.lanes != 0) ? threads
          : v.lanes != 0                         ? 1
          : inner                                ? 16
                                                 : 4;
  teams = threads / parts;
}

Variant choose(const Profile& profile, Problem& problem, DType dtype) {
  Variant v{};
  v.dtype = dtype;
  v.atomic = wgsl::lanes_of(dtype) > 1;
  const bool broadcasts = profile.kind == Profile::Kind::Cpu &&
                          (profile.lanes == 4 || profile.lanes == 8);
  if (!wgsl::is_float(dtype)) {
    v.plan = Plan::Integer;
    return v;
  }
  if (problem.m == 1 || problem.n == 1) {
    choose_vector(profile, broadcasts, problem, v);
  } else {
    choose_matrix(profile, broadcasts, problem, v);
  }
  v.wide_a = problem.wide_a(v.order_a);
  v.wide_b = problem.wide_b(v.order_b);
  if (v.plan == Plan::Vector) return v;
  v.wide_o = problem.vo.quads_in_rows(problem.n) &&
             (!problem.biased || problem.vc.quads_in_rows(problem.n));
  v.atomic = v.atomic && !v.wide_o;
  return v;
}

}  // namespace torch_webgpu::ops::matmul
