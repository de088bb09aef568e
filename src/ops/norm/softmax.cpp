#include <ATen/core/Tensor.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/norm/rows.h"
#include "ops/reduce/reduce.h"
#include "ops/runtime/fallback.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using wgsl::DType;
using wgsl::Mode;

struct Variant {
  DType a;
  DType o;
  uint8_t log;
  uint8_t by_group;
  uint8_t windows_a;
  uint8_t windows_y;  // of the result, in the backward kernel
  uint8_t windows_o;
  static constexpr uint8_t Variant::* kWindows[] = {
      &Variant::windows_a, &Variant::windows_y, &Variant::windows_o};
};

// clang-format off
#define SOFTMAX_PARAMS(X) \
  X(u32, rows) \
  X(u32, count) \
  X(u32, inner) \
  X(u32, a_offset) \
  X(u32, o_offset)
// clang-format on
WEBGPU_PARAMS(SoftmaxParams, SOFTMAX_PARAMS);

// clang-format off
#define SOFTMAX_BACKWARD_PARAMS(X) \
  X(u32, rows) \
  X(u32, count) \
  X(u32, inner) \
  X(u32, g_offset) \
  X(u32, y_offset) \
  X(u32, o_offset)
// clang-format on
WEBGPU_PARAMS(SoftmaxBackwardParams, SOFTMAX_BACKWARD_PARAMS);

std::string label_of(const char* name, const Variant& v) {
  auto label =
      fmt::format("{}{}_{}_{}_{}", v.log ? "log_" : "", name, name_of(v.a),
                  name_of(v.o), v.by_group ? "group" : "thread");
  if (v.windows_a * v.windows_y * v.windows_o != 1) {
    label += fmt::format("_w{}{}{}", v.windows_a, v.windows_y, v.windows_o);
  }
  return label;
}

std::vector<std::pair<std::string, std::string>> placement(const Variant& v) {
  return {
      {"threads", v.by_group ? "64" : "1"},
      {"row", v.by_group ? "group_index(group, groups)"
                         : "thread_index(group, groups, lane, 64u)"},
      {"first", v.by_group ? "lane" : "0u"},
      {"share", v.by_group ? "group" : "own"},
  };
}

wgsl::KernelText describe(const Variant& v) {
  wgsl::KernelText text;
  text.label = label_of("softmax", v);
  text.file = "softmax";
  text.params = SoftmaxParams::wgsl();
  text.operands = {{"a", v.a, Mode::Read, v.windows_a, {}},
                   {"o", v.o, Mode::Write, v.windows_o, {}}};
  text.substitutions = placement(v);
  text.substitutions.push_back({"scale", v.log ? "m_log(sum)" : "1.0 / sum"});
  text.substitutions.push_back(
      {"result", v.log ? "x - scale" : "m_exp(x) * scale"});
  return text;
}

wgsl::KernelText describe_backward(const Variant& v) {
  wgsl::KernelText text;
  text.label = label_of("softmax_backward", v);
  text.file = "softmax_backward";
  text.params = SoftmaxBackwardParams::wgsl();
  text.operands = {{"g", v.a, Mode::Read, v.windows_a, {}},
                   {"y", v.a, Mode::Read, v.windows_y, {}},
                   {"o", v.o, Mode::Write, v.windows_o, {}}};
  text.substitutions = placement(v);
  const std::string gradient = "load_g(p.g_offset + at)";
  text.substitutions.push_back(
      {"term", v.log ? gradient : gradient + " * load_y(p.y_offset + at)"});
  text.substitutions.push_back(
      {"result", v.log ? "g - m_exp(y) * sum" : "(g - sum) * y"});
  return text;
}

template <bool backward>
std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  for (const DType a : wgsl::kFloats) {
    for (const DType o : wgsl::kFloats) {
      if (a != o && o != DType::F32 && !(backward && a == DType::F32)) continue;
      for (const uint8_t log : {0, 1}) {
        for (const uint8_t by_group : {0, 1}) {
          all.push_back({a, o, log, by_group, 1, 1, 1});
        }
      }
    }
  }
  return all;
}

Family<Variant> forward_family(describe, enumerate<false>);
Family<Variant> backward_family(describe_backward, enumerate<true>);

template <bool log>
Tensor& softmax_out(const Tensor& self, int64_t dim, bool half_to_float,
                    Tensor& out) {
  if (!is_native(self) || !is_native(out)) {
    cpu_call(log ? "aten::_log_softmax" : "aten::_softmax", "out",
             {self, dim, half_to_float, out});
    return out;
  }
  TORCH_CHECK(at::isFloatingType(self.scalar_type()),
              log ? "log_softmax" : "softmax",
              ": expected a floating point tensor, got ", self.scalar_type());
  check_result_dtype(out, half_to_float ? at::kFloat : self.scalar_type());
  resize_result(out, self.sizes());
  const Rows rows = rows_along(self, dim);
  if (self.numel() == 0) return out;
  const Tensor a = self.contiguous();
  const RowTarget target(out, rows, {&a});
  const Tensor& o = target.tensor();
  SoftmaxParams p;
  p.rows = uint32_t(rows.rows());
  p.count = rows.count;
  p.inner = rows.inner;
  p.a_offset = offset_of(a);
  p.o_offset = offset_of(o);
  const Variant v{wgsl::dtype_of(a.scalar_type()),
                  wgsl::dtype_of(o.scalar_type()),
                  log,
                  rows.by_group(),
                  windows_of(a),
                  1,
                  windows_of(o)};
  launch(forward_family(v), {&a, &o}, p, rows.workgroups());
  target.finish();
  return out;
}

template <bool log>
Tensor& softmax_backward_out(const Tensor& grad, const Tensor& output,
                             int64_t dim, at::ScalarType input_dtype,
                             Tensor& out) {
  if (!is_native(grad) || !is_native(output) || !is_native(out)) {
    cpu_call(log ? "aten::_log_softmax_backward_data"
                 : "aten::_softmax_backward_data",
             "out", {grad, output, dim, input_dtype, out});
    return out;
  }
  check_result_dtype(out, input_dtype);
  resize_result(out, grad.sizes());
  const Rows rows = rows_along(grad, dim);
  if (grad.numel() == 0) return out;
  const Tensor g = grad.contiguous();
  const Tensor y = output.to(grad.scalar_type()).contiguous();
  const RowTarget target(out, rows, {&g, &y});
  const Tensor& o = target.tensor();
  SoftmaxBackwardParams p;
  p.rows = uint32_t(rows.rows());
  p.count = rows.count;
  p.inner = rows.inner;
  p.g_offset = offset_of(g);
  p.y_offset = offset_of(y);
  p.o_offset = offset_of(o);
  const Variant v{wgsl::dtype_of(g.scalar_type()),
                  wgsl::dtype_of(o.scalar_type()),
                  log,
                  rows.by_group(),
                  windows_of(g),
                  windows_of(y),
                  windows_of(o)};
  launch(backward_family(v), {&g, &y, &o}, p, rows.workgroups());
  target.finish();
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_softmax.out", &softmax_out<false>);
  m.impl("_log_softmax.out", &softmax_out<true>);
  m.impl("_softmax_backward_data.out", &softmax_backward_out<false>);
  m.impl("_log_softmax_backward_data.out", &softmax_backward_out<true>);
}

}  // namespace torch_webgpu::ops
