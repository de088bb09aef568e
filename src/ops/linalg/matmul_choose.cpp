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

// The rows of the subgroup kernel's tile with the time of one, in about the
// time that a row of a large tile takes (measured on lavapipe). Large tiles
// take long to compile, so small products do without.
struct Size {
  uint8_t rows;
  double cost;
  uint64_t work;
};
constexpr Size kSizes[] = {{4, 9.0, 0},
                           {8, 12.0, 0},
                           {16, 18.5, uint64_t{1} << 20},
                           {32, 32.0, uint64_t{1} << 24}};

uint64_t work_of(const Problem& problem) {
  return uint64_t{problem.m} * problem.n * problem.k * problem.batch;
}

struct CostedTiling : Tiling {
  double cost = 0;
};
CostedTiling best_tile(const Profile& profile, uint32_t m, uint32_t n,
                       bool wide, const Problem& problem) {
  const auto division = division_of(profile, Plan::Subgroup);
  const uint64_t work = work_of(problem);
  CostedTiling best;
  for (const auto& size : kSizes) {
    const uint64_t tiles =
        ceil_div(m, size.rows) * ceil_div(n, 4 * profile.lanes) * problem.batch;
    const uint32_t parts = parts_of(division, tiles, work, problem.k);
    const bool small = tiles * parts < division.wanted || work < size.work;
    // Loads of single elements take so long that more rows gain nothing.
    if (size.rows > 16 && !wide) break;
    const double cost = double(tiles) * size.cost;
    if (best.rows == 0 || (!small && cost < best.cost))
      best = {{size.rows, false, parts}, cost};
  }
  return best;
}

bool has_large_tiles() {
  return device().info().limits.max_workgroup_storage >= 24576;
}

Tiling suggest(const Profile& profile, Plan plan, const Problem& problem,
               bool wide) {
  if (plan == Plan::Subgroup) {
    const auto as_is = best_tile(profile, problem.m, problem.n, wide, problem);
    auto turned = best_tile(profile, problem.n, problem.m, wide, problem);
    turned.turned = true;
    return turned.cost < 0.75 * as_is.cost ? turned : as_is;
  }
  // Twice the rows where these tiles fill the device all the same.
  const auto division = division_of(profile, plan);
  const uint64_t across = ceil_div(problem.n, 64) * problem.batch;
  Tiling tiling;
  tiling.rows =
      ceil_div(problem.m, 128) * across >= division.wanted && has_large_tiles()
          ? 128
          : 64;
  tiling.parts = parts_of(division, ceil_div(problem.m, tiling.rows) * across,
                          work_of(problem), problem.k);
  return tiling;
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

// Subgroups exchange operands on a CPU, where workgroup memory gains nothing.
bool broadcasts_on(const Profile& profile) {
  return profile.kind == Profile::Kind::Cpu &&
         (profile.lanes == 4 || profile.lanes == 8);
}

void choose_matrix(const Profile& profile, bool broadcasts, Problem& problem,
                   Variant& v, const Tiling* given) {
  const auto set_orders = [&] {
    v.order_a = problem.va.col != 1 ? Order::Outer : Order::Inner;
    v.order_b = problem.vb.row != 1 ? Order::Outer : Order::Inner;
  };
  set_orders();
  v.plan = broadcasts ? Plan::Subgroup : Plan::Tile;
  v.lanes = broadcasts ? uint8_t(profile.lanes) : 0;
  const bool wide = problem.wide_a(v.order_a) && problem.wide_b(v.order_b);
  const Tiling tiling =
      given ? *given : suggest(profile, v.plan, problem, wide);
  if (tiling.turned) {
    problem.transpose();
    set_orders();
  }
  v.rows = tiling.rows;
  divide(problem, tiling.parts);
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

std::vector<Tiling> tilings(const Profile& profile, const Problem& problem,
                            DType dtype) {
  std::vector<Tiling> all;
  if (!wgsl::is_float(dtype) || problem.m == 1 || problem.n == 1) return all;
  const bool broadcasts = broadcasts_on(profile);
  std::vector<uint8_t> rows;
  if (broadcasts) {
    for (const Size& size : kSizes)
      rows.push_back(size.rows);
  } else {
    rows.push_back(64);
    if (has_large_tiles()) rows.push_back(128);
  }
  for (const uint8_t count : rows) {
    for (const bool turned : {false, true}) {
      if (turned && !broadcasts) continue;
      for (uint32_t parts = 1; parts <= 8 && parts * 256 <= problem.k;
           parts *= 2) {
        all.push_back({count, turned, parts});
      }
    }
  }
  return all;
}

Variant choose(const Profile& profile, Problem& problem, DType dtype,
               const Tiling* tiling) {
  Variant v{};
  v.dtype = dtype;
  v.atomic = wgsl::lanes_of(dtype) > 1;
  const bool broadcasts = broadcasts_on(profile);
  if (!wgsl::is_float(dtype)) {
    v.plan = Plan::Integer;
    return v;
  }
  if (problem.m == 1 || problem.n == 1) {
    choose_vector(profile, broadcasts, problem, v);
  } else {
    choose_matrix(profile, broadcasts, problem, v, tiling);
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
