// arange, linspace and eye.
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linspace.h>
#include <c10/core/SymInt.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <cmath>

#include "ops/kernel/each.h"
#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/runtime/native.h"

namespace torch_webgpu::ops {
namespace {

using at::Scalar;
using at::Tensor;
using wgsl::Compute;
using wgsl::DType;
using wgsl::Mode;
using wgsl::params::words_of;

WEBGPU_PARAMS(SequenceParams, (u64, start), (u64, step), (f32, start_high),
              (f32, start_low), (f32, step_high), (f32, step_low), (f32, end),
              (u32, offset_o), (u32, count), (u32, share));

struct SequenceVariant {
  uint16_t workgroup;
  uint8_t linspace, windows_o;
  uint16_t dtype;
  static constexpr uint8_t SequenceVariant::* kWindows[] = {
      &SequenceVariant::windows_o};
};

wgsl::KernelText describe(const SequenceVariant& v) {
  const auto dtype = static_cast<DType>(v.dtype);
  wgsl::KernelText text;
  text.label = fmt::format("{}_{}_w{}", v.linspace ? "linspace" : "arange",
                           wgsl::name_of(dtype), v.windows_o);
  text.compute = wgsl::compute_of(dtype);
  text.operands = {each_operand(dtype, v.windows_o)};
  std::string value;
  switch (text.compute) {
    case Compute::F32:
      value = v.linspace ? "linspace_f32(e)" : "arange_f32(e)";
      break;
    case Compute::I64:
      value = "arange_i64(e)";
      break;
    case Compute::I32:
      value = "i64_to_i32(arange_i64(e))";
      break;
    case Compute::U32:
      value = "i64_to_u32(arange_i64(e))";
      break;
  }
  make_each(text,
            fmt::format("fn value(e: u32) -> T {{\n  return {};\n}}", value),
            v.workgroup);
  text.params = SequenceParams::wgsl();
  return text;
}

std::vector<SequenceVariant> enumerate() {
  std::vector<SequenceVariant> all;
  for (const DType dtype : wgsl::kFloats) {
    all.push_back({64, 0, 1, uint16_t(dtype)});
    all.push_back({64, 1, 1, uint16_t(dtype)});
  }
  for (const DType dtype : wgsl::kInts)
    all.push_back({64, 0, 1, uint16_t(dtype)});
  return all;
}

Family<SequenceVariant> family(describe, enumerate);

void run(SequenceParams p, bool linspace, const Tensor& out) {
  if (!out.is_contiguous()) {
    const Tensor result = at::empty(out.sizes(), out.options());
    run(p, linspace, result);
    out.copy_(result);
    return;
  }
  const DType dtype = wgsl::dtype_of(out.scalar_type());
  const uint64_t groups = set_each(p, offset_of(out), uint32_t(out.numel()));
  launch(
      family({profile().workgroup, linspace, windows_of(out), uint16_t(dtype)}),
      {&out}, p, groups);
}

// The number of elements, as the CPU counts them: int64 in whole numbers, the
// others in double precision.
int64_t arange_size(const Scalar& start, const Scalar& end, const Scalar& step,
                    bool whole) {
  const double from = start.toDouble(), to = end.toDouble();
  const double by = step.toDouble();
  TORCH_CHECK(by != 0, "arange: step must be nonzero");
  TORCH_CHECK(std::isfinite(from) && std::isfinite(to),
              "arange: unsupported range: ", from, " -> ", to);
  TORCH_CHECK((by > 0 && to >= from) || (by < 0 && to <= from),
              "arange: upper bound and lower bound inconsistent with step "
              "sign");
  if (whole) {
    const auto s = step.to<int64_t>();
    TORCH_CHECK(s != 0, "arange: step must be nonzero");
    const int64_t range = end.to<int64_t>() - start.to<int64_t>();
    return (range + s - (s > 0 ? 1 : -1)) / s;
  }
  const double size = std::ceil((to - from) / by);
  TORCH_CHECK(size < 9.2e18, "arange: invalid size ", size);
  return int64_t(size);
}

Tensor& arange_out(const Scalar& start, const Scalar& end, const Scalar& step,
                   Tensor& out) {
  const auto type = out.scalar_type();
  const bool integral = at::isIntegralType(type, false);
  const int64_t size = arange_size(start, end, step, type == at::kLong);
  if (out.numel() != size || out.dim() != 1) out.resize_({size});
  if (size == 0) return out;
  SequenceParams p;
  if (integral) {
    p.start = words_of(start.to<int64_t>());
    p.step = words_of(step.to<int64_t>());
  } else {
    const double from = start.toDouble(), by = step.toDouble();
    p.start_high = float(from);
    p.step_high = float(by);
    p.start_low = float(from - p.start_high);
    p.step_low = float(by - p.step_high);
  }
  run(p, false, out);
  return out;
}

Tensor& linspace_out(const Scalar& start, const Scalar& end, int64_t steps,
                     Tensor& out) {
  TORCH_CHECK(steps >= 0,
              "linspace: number of steps must be non-negative, "
              "but is ",
              steps);
  const auto type = out.scalar_type();
  if (out.numel() != steps || out.dim() != 1) out.resize_({steps});
  if (steps == 0) return out;
  if (steps == 1) return out.fill_(start);
  if (!at::isFloatingType(type)) {
    // Rounded from the host's double precision, which the device has not: the
    // few numbers are made here and written.
    const auto options = at::TensorOptions().dtype(type).device(at::kCPU);
    return out.copy_(at::linspace(start, end, steps, options));
  }
  SequenceParams p;
  const auto from = start.to<float>(), to = end.to<float>();
  p.start_high = from;
  p.end = to;
  p.step_high = (to - from) / float(steps - 1);
  run(p, true, out);
  return out;
}

Tensor& eye_m_out(c10::SymInt n, c10::SymInt m, Tensor& out) {
  TORCH_CHECK(n >= 0, "eye: n must be greater or equal to 0, got ", n);
  TORCH_CHECK(m >= 0, "eye: m must be greater or equal to 0, got ", m);
  out.resize_({n.expect_int(), m.expect_int()});
  out.zero_();
  if (out.numel() != 0) out.diagonal().fill_(1);
  return out;
}

Tensor& eye_out(c10::SymInt n, Tensor& out) {
  return eye_m_out(n, n, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"arange.start_out", &arange_out, takes_numbers>(m);
  native<"linspace.out", &linspace_out, takes_native>(m);
  m.impl("eye.out", &eye_out);
  m.impl("eye.m_out", &eye_m_out);
}

}  // namespace torch_webgpu::ops
