// Runs the matrix products: one kernel, or two where a long sum is divided.
#include "ops/linalg/matmul.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <fmt/format.h>

#include "ops/kernel/autotune.h"
#include "ops/kernel/launch.h"
#include "ops/linalg/matmul_variant.h"
#include "ops/pointwise/pointwise.h"

namespace torch_webgpu::ops {
namespace {

using matmul::Bias;
using matmul::Plan;
using matmul::Problem;
using matmul::Tiling;
using matmul::Variant;
using matmul::View;
using wgsl::DType;

// Rows and columns of a workgroup's tile, or of a thread's.
std::pair<uint32_t, uint32_t> tile_of(const Variant& v) {
  switch (v.plan) {
    case Plan::Tile:
      return {v.rows, 64};
    case Plan::Subgroup:
      return {v.rows, 4 * v.lanes};
    case Plan::Vector:
      return {v.rows * matmul::Teams(v).teams, 1};
    case Plan::Parts:
      return {1, 4};
    default:
      return {1, 1};
  }
}

struct Epilogue {
  at::Tensor bias;
  const c10::Scalar& beta;
  const c10::Scalar& alpha;
  Activation activation;
};

void launch_product(Variant v, const Problem& problem, const Epilogue& epilogue,
                    const at::Tensor& out) {
  const auto& [bias, beta, alpha, activation] = epilogue;
  v.activation = uint8_t(activation);
  v.bias = !bias.defined()          ? Bias::None
           : same_buffer(bias, out) ? Bias::InPlace
                                    : Bias::Own;
  v.windows_a = v.plan == Plan::Parts ? 1 : windows_of(*problem.first);
  v.windows_b = windows_of(*problem.second);
  v.windows_c = v.bias == Bias::Own ? windows_of(bias) : 1;
  v.windows_o = windows_of(out);

  matmul::Params p;
  if (v.plan == Plan::Integer) {
    p.value_alpha = encode(alpha, v.dtype);
    p.value_beta = encode(beta, v.dtype);
  } else {
    p.alpha = alpha.to<float>();
    p.beta = beta.to<float>();
  }
  const auto [tile_m, tile_n] = tile_of(v);
  p.m = problem.m, p.n = problem.n, p.k = problem.k;
  p.parts = problem.parts, p.part_k = problem.part_k;
  p.tiles_m = uint32_t(ceil_div(p.m, tile_m));
  p.tiles_n = uint32_t(ceil_div(p.n, tile_n));
  p.tiles = p.tiles_m * p.tiles_n * problem.batch;
  const View &va = problem.va, &vb = problem.vb, &vc = problem.vc,
             &vo = problem.vo;
  p.offset_a = va.offset, p.batch_a = va.batch;
  p.row_a = va.row, p.col_a = va.col;
  p.offset_b = vb.offset, p.batch_b = vb.batch;
  p.row_b = vb.row, p.col_b = vb.col;
  p.offset_c = vc.offset, p.batch_c = vc.batch;
  p.row_c = vc.row, p.col_c = vc.col;
  p.offset_o = vo.offset, p.batch_o = vo.batch;
  p.row_o = vo.row, p.col_o = vo.col;
  const bool by_thread = v.plan == Plan::Integer || v.plan == Plan::Parts;
  c10::SmallVector<const at::TensorBase*, 4> tensors;
  if (v.plan != Plan::Parts) tensors.push_back(problem.first);
  tensors.push_back(problem.second);
  if (v.bias == Bias::Own) tensors.push_back(&bias);
  tensors.push_back(&out);
  launch_bytes(matmul::kernel_of(v), tensors, std::as_bytes(std::span(&p, 1)),
               by_thread ? ceil_div(p.tiles, kWorkgroup) : p.tiles);
}

void run_as(Problem problem, const Tiling* tiling, const Epilogue& epilogue,
            const at::Tensor& out) {
  const DType dtype = wgsl::dtype_of(out.scalar_type());
  const Variant v = matmul::choose(profile(), problem, dtype, tiling);
  if (problem.parts == 1) {
    launch_product(v, problem, epilogue, out);
    return;
  }
  const at::Tensor parts =
      at::empty({int64_t{problem.batch} * problem.parts, problem.m, problem.n},
                out.options().dtype(at::kFloat));
  Problem partial = problem;
  partial.batch = problem.batch * problem.parts;
  partial.vo = View(parts);
  Variant made = v;
  made.partial = 1;
  made.atomic = 0;
  made.wide_o = problem.n % 4 == 0 && v.plan != Plan::Vector;
  const c10::Scalar one(1.0);
  launch_product(made, partial, {at::Tensor(), one, one, Activation::None},
                 parts);

  Problem whole = problem;
  whole.second = &parts;
  whole.vb = View(parts);
  whole.k = problem.m;
  Variant added{};
  added.plan = Plan::Parts;
  added.dtype = v.dtype;
  added.atomic = v.atomic;
  added.order_b = matmul::Order::Outer;
  added.wide_b = problem.n % 4 == 0;
  added.wide_o = v.wide_o;
  launch_product(added, whole, epilogue, out);
}

// The best way of cutting, by measurement; null where none was measured.
const Tiling* tune(const std::vector<Tiling>& tilings, const Problem& problem,
                   const Epilogue& epilogue, const at::Tensor& out) {
  constexpr uint64_t kWorthIt = 1 << 18;
  if (tilings.empty() ||
      uint64_t{problem.m} * problem.n * problem.k * problem.batch < kWorthIt) {
    return nullptr;
  }
  std::vector<std::string> names;
  for (const Tiling& tiling : tilings) {
    names.push_back(fmt::format("{}{} in {}", tiling.rows,
                                tiling.turned ? " turned" : "", tiling.parts));
  }
  const std::string shape = fmt::format(
      "{}, {} of {} x {} x {}, dense {} {}, bias {}",
      c10::toString(out.scalar_type()), size_class(problem.batch),
      size_class(problem.m), size_class(problem.k), size_class(problem.n),
      problem.va.col == 1, problem.vb.col == 1, epilogue.bias.defined());
  // What is added to in place cannot be added to twice.
  const bool in_place =
      epilogue.bias.defined() && same_buffer(epilogue.bias, out);
  const size_t best = in_place
                          ? tuned_before("matmul", shape, names, names.size())
                          : tuned("matmul", shape, names, [&](size_t i) {
                              run_as(problem, &tilings[i], epilogue, out);
                            });
  return best < tilings.size() ? &tilings[best] : nullptr;
}

void run(const at::Tensor& a, const at::Tensor& b, const Epilogue& epilogue,
         const at::Tensor& out) {
  const Problem problem(a, b, epilogue.bias, out);
  std::vector<Tiling> tilings;
  const Tiling* tiling = nullptr;
  if (autotuning()) {
    tilings =
        matmul::tilings(profile(), problem, wgsl::dtype_of(out.scalar_type()));
    tiling = tune(tilings, problem, epilogue, out);
  }
  run_as(problem, tiling, epilogue, out);
}

// True when both are the same elements in the same places.
bool same_view(const at::Tensor& a, const at::Tensor& b) {
  return a.storage_offset() == b.storage_offset() && a.strides() == b.strides();
}

}  // namespace

void batched_matmul(const at::Tensor& a, const at::Tensor& b,
                    const at::Tensor& bias, const at::Tensor& out,
                    const c10::Scalar& beta, const c10::Scalar& alpha,
                    Activation activation) {
  if (out.numel() == 0) return;
  const bool biased = bias.defined() && beta.toComplexDouble() != 0.0;
  const Epilogue epilogue{biased ? bias : at::Tensor(), beta, alpha,
                          activation};
  // A kernel cannot read what others write; only the bias in place is read by
  // the thread that writes it.
  if (same_buffer(a, out) || same_buffer(b, out) ||
      (biased && same_buffer(bias, out) && !same_view(bias, out))) {
    const at::Tensor result = at::empty_like(out, at::MemoryFormat::Contiguous);
    run(a, b, epilogue, result);
    out.copy_(result);
    return;
  }
  run(a, b, epilogue, out);
}

}  // namespace torch_webgpu::ops
