// tril and triu. Elements are only moved, so they are moved as integers of
// their size, and every dtype of at most eight bytes works.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/SymInt.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>

#include "ops/kernel/each.h"
#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/pointwise/pointwise.h"
#include "ops/runtime/native.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using wgsl::DType;
using wgsl::Mode;

WEBGPU_PARAMS(TriangleParams, (Walk, at), (u32x8, at_a), (u32, offset_a),
              (u32, offset_o), (u32, count), (u32, share), (u32, rows),
              (u32, cols), (i32, diagonal));

struct TriangleVariant {
  uint16_t workgroup;
  uint8_t dtype, upper, windows_a, windows_o;
  static constexpr uint8_t TriangleVariant::* kWindows[] = {
      &TriangleVariant::windows_a, &TriangleVariant::windows_o};
};

wgsl::KernelText describe(const TriangleVariant& v) {
  const auto dtype = static_cast<DType>(v.dtype);
  wgsl::KernelText text;
  text.label = fmt::format("{}_{}_w{}{}", v.upper ? "triu" : "tril",
                           wgsl::name_of(dtype), v.windows_a, v.windows_o);
  text.compute = wgsl::compute_of(dtype);
  text.operands = {{"a", dtype, Mode::Read, v.windows_a, ""},
                   each_operand(dtype, v.windows_o)};
  text.walks = {{"at", {"a"}}};
  make_each(text,
            wgsl::substitute(wgsl::embedded("triangle"),
                             {{"compare", v.upper ? ">=" : "<="}}),
            v.workgroup);
  text.params = TriangleParams::wgsl();
  return text;
}

constexpr DType kCarriers[] = {DType::U8, DType::I16, DType::I32, DType::I64};

std::vector<TriangleVariant> enumerate() {
  std::vector<TriangleVariant> all;
  for (const DType dtype : kCarriers) {
    all.push_back({64, uint8_t(dtype), 0, 1, 1});
    all.push_back({64, uint8_t(dtype), 1, 1, 1});
  }
  return all;
}

Family<TriangleVariant> family(describe, enumerate);

DType carrier_of(const Tensor& t) {
  const auto bytes = t.element_size();
  return kCarriers[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

// `out` is contiguous and shares no buffer with self.
void run(const Tensor& self_, int64_t diagonal, bool upper, const Tensor& out) {
  TriangleParams p;
  Tensor self = self_;
  Geometry geometry;
  if (!make_geometry(std::array{out, self}, geometry)) {
    self = self.contiguous();
    make_geometry(std::array{out, self}, geometry);
  }
  for (int d = 0; d < geometry.rank; ++d) {
    p.at.add(uint32_t(geometry.sizes[d]));
    p.at_a[d] = uint32_t(geometry.strides[1][d]);
  }
  p.offset_a = offset_of(self);
  p.rows = uint32_t(out.size(-2));
  p.cols = uint32_t(out.size(-1));
  constexpr int64_t kFar = int64_t{1} << 30;
  p.diagonal = int32_t(std::clamp(diagonal, -kFar, kFar));
  const DType dtype = carrier_of(out);
  const TriangleVariant v{profile().workgroup, uint8_t(dtype), upper,
                          windows_of(self), windows_of(out)};
  const uint64_t groups = set_each(p, offset_of(out), uint32_t(out.numel()));
  launch(family(v), {&self, &out}, p, groups);
}

bool is_carried(const at::TensorBase& self) {
  return self.element_size() <= 8;
}
constexpr TensorsAt<&is_carried, 0> takes;

Tensor& triangle(const char* name, const Tensor& self,
                 const c10::SymInt& diagonal, bool upper, Tensor& out) {
  TORCH_CHECK(self.dim() >= 2, name,
              ": input tensor must have at least 2 dimensions");
  TORCH_CHECK(self.scalar_type() == out.scalar_type(), name,
              ": expected out to have dtype ", self.scalar_type(), ", but got ",
              out.scalar_type());
  resize_out(out, self.sizes());
  if (out.numel() == 0) return out;
  if (out.is_contiguous() && !same_buffer(self, out)) {
    run(self, diagonal.expect_int(), upper, out);
    return out;
  }
  const Tensor result = at::empty(self.sizes(), out.options());
  run(self, diagonal.expect_int(), upper, result);
  return out.copy_(result);
}

Tensor& tril_out(const Tensor& self, c10::SymInt diagonal, Tensor& out) {
  return triangle("tril", self, diagonal, false, out);
}

Tensor& triu_out(const Tensor& self, c10::SymInt diagonal, Tensor& out) {
  return triangle("triu", self, diagonal, true, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"tril.out", &tril_out, takes>(m);
  native<"triu.out", &triu_out, takes>(m);
}

}  // namespace torch_webgpu::ops
