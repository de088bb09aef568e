#include "ops/copy/transpose.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/kernel/family.h"
#include "ops/kernel/geometry.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/kernel/profile.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::DType;
using wgsl::Mode;
using wgsl::Width;

struct Variant {
  DType carrier;   // elements move as integers of their size
  uint8_t across;  // threads along the input's dense dimension
};

WEBGPU_PARAMS(TransposeParams, (Walk, at), (u32x8, at_a), (u32x8, at_o),
              (u32, offset_a), (u32, offset_o), (u32, size_i), (u32, size_j),
              (u32, step_a), (u32, step_o), (u32, tiles), (u32, tiles_i),
              (u32, tiles_j), (u32, share));

wgsl::KernelText describe(const Variant& v) {
  wgsl::KernelText text;
  text.file = "transpose";
  text.label =
      fmt::format("transpose_{}_{}", wgsl::name_of(v.carrier), v.across);
  text.compute = wgsl::compute_of(v.carrier);
  text.operands = {{"a", v.carrier, Mode::Read, 1, "", Width::Quad},
                   {"o", v.carrier, Mode::Write, 1, "", Width::Quad}};
  text.walks = {{"at", {"a", "o"}}};
  text.substitutions = {{"quad", wgsl::quad_type(text.compute)},
                        {"across", std::to_string(v.across)}};
  text.params = TransposeParams::wgsl();
  return text;
}

// A CPU's cache holds few of the rows of `o`, which are often a power of two
// apart: eight threads of a subgroup fill whole lines of eight. On a GPU both
// sides want 128 bytes of neighbours.
constexpr uint8_t kAcrossCpu = 2, kAcrossGpu = 8;

std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  for (const DType carrier : {DType::U8, DType::I16, DType::I32, DType::I64}) {
    for (const uint8_t across : {kAcrossCpu, kAcrossGpu})
      all.push_back({carrier, across});
  }
  return all;
}

Family<Variant> family(describe, enumerate);

DType carrier_of(int64_t bytes) {
  return bytes == 1   ? DType::U8
         : bytes == 2 ? DType::I16
         : bytes == 4 ? DType::I32
                      : DType::I64;
}

// The dimension in which `a` is dense, if all else begins at quads.
std::optional<int> dense_dim(const Geometry& geometry) {
  const auto& o = geometry.strides[0];
  const auto& a = geometry.strides[1];
  std::optional<int> dense;
  for (int d = 0; d < geometry.rank; ++d) {
    if (a[d] == 1 && d > 0) dense = d;
    if ((d > 0 && o[d] % 4 != 0) || (a[d] != 1 && a[d] % 4 != 0)) {
      return std::nullopt;
    }
  }
  if (o[0] != 1 || !dense || geometry.sizes[0] % 4 != 0 ||
      geometry.sizes[*dense] % 4 != 0) {
    return std::nullopt;
  }
  return dense;
}

}  // namespace

bool transpose_copy(const at::Tensor& from, const at::Tensor& to) {
  if (from.element_size() > 8) return false;
  Geometry geometry;
  if (!make_geometry(std::array{to, from}, geometry)) return false;
  const auto dense = dense_dim(geometry);
  if (!dense || windows_of(from) > 1 || windows_of(to) > 1) return false;
  TransposeParams p;
  p.offset_a = offset_of(from);
  p.offset_o = offset_of(to);
  if (p.offset_a % 4 != 0 || p.offset_o % 4 != 0) return false;
  p.size_i = uint32_t(geometry.sizes[*dense]);
  p.size_j = uint32_t(geometry.sizes[0]);
  p.step_a = uint32_t(geometry.strides[1][0]);
  p.step_o = uint32_t(geometry.strides[0][*dense]);
  uint64_t batches = 1;
  for (int d = 1; d < geometry.rank; ++d) {
    if (d == *dense) continue;
    batches *= uint64_t(geometry.sizes[d]);
    p.at_a[p.at.rank] = uint32_t(geometry.strides[1][d]);
    p.at_o[p.at.rank] = uint32_t(geometry.strides[0][d]);
    p.at.add(uint32_t(geometry.sizes[d]));
  }
  if (p.at.rank == 0) p.at.add(1);
  const Profile& adapter = profile();
  const uint8_t across =
      adapter.kind == Profile::Kind::Cpu ? kAcrossCpu : kAcrossGpu;
  const uint64_t tiles_i = ceil_div(p.size_i, uint64_t{4} * across);
  p.tiles_j = uint32_t(ceil_div(p.size_j, uint64_t{256} / across));
  const uint64_t all = batches * tiles_i * p.tiles_j;
  p.share = uint32_t(
      std::clamp<uint64_t>(all / adapter.enough_workgroups, 1,
                           std::min<uint64_t>(adapter.max_rounds, tiles_i)));
  p.tiles_i = uint32_t(ceil_div(tiles_i, p.share));
  p.tiles = uint32_t(batches * p.tiles_i * p.tiles_j);
  launch(family({carrier_of(from.element_size()), across}), {&from, &to}, p,
         p.tiles);
  return true;
}

}  // namespace torch_webgpu::ops
