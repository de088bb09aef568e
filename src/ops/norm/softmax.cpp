#include <ATen/core/Tensor.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/norm/rows.h"
#include "ops/reduce/reduce.h"
#include "ops/runtime/native.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using wgsl::DType;
using wgsl::Mode;

struct Variant {
  DType a;
  DType o;
  RowPlan plan;
  uint8_t log;
  uint8_t windows_a;
  uint8_t windows_y;  // of the result, in the backward kernel
  uint8_t windows_o;
  static constexpr uint8_t Variant::* kWindows[] = {
      &Variant::windows_a, &Variant::windows_y, &Variant::windows_o};
};

WEBGPU_PARAMS(SoftmaxParams, ROW_PARAMS, (u32, a_offset), (u32, o_offset));

WEBGPU_PARAMS(SoftmaxBackwardParams, ROW_PARAMS, (u32, g_offset),
              (u32, y_offset), (u32, o_offset));

std::string label_of(const char* name, const Variant& v) {
  auto label = fmt::format("{}{}_{}_{}{}", v.log ? "log_" : "", name,
                           name_of(v.a), name_of(v.o), v.plan.label());
  if (v.windows_a * v.windows_y * v.windows_o != 1) {
    label += fmt::format("_w{}{}{}", v.windows_a, v.windows_y, v.windows_o);
  }
  return label;
}

wgsl::KernelText describe(const Variant& v) {
  auto text = row_kernel("softmax", v.plan,
                         {{"a", v.a, Mode::Read, v.windows_a, true},
                          {"o", v.o, Mode::Write, v.windows_o}});
  text.label = label_of("softmax", v);
  text.params = SoftmaxParams::wgsl();
  // float32 results hold the exponentials until their sum is known.
  const bool keep = !v.log && v.o == DType::F32;
  const auto set = [&](const char* key, std::string value) {
    text.substitutions.emplace_back(key, std::move(value));
  };
  set("scale", v.log  ? "m_log(high_sum)"
               : keep ? "select(high_sum, 1.0 / sum, is_finite(high_sum))"
                      : "1.0 / high_sum");
  set("keep", keep ? "put_o(o, j, e);" : "");
  // The largest of some units; a workgroup's threads would have to wait for
  // each other.
  const std::string start = v.plan.wide ? "load4_a(a)" : "load_a(a)";
  set("guess", v.plan.by_group()
                   ? "unit_max(" + start + ")"
                   : "row_max(unit_max(get_a(a, min(first, units - 1u))), "
                     "lane)");
  set("result", v.log  ? "(get_a(a, i) - high) - scale"
                : keep ? "get_o(o, i) * scale"
                       : "unit_exp(get_a(a, i) - high) * scale");
  return text;
}

wgsl::KernelText describe_backward(const Variant& v) {
  auto text = row_kernel("softmax_backward", v.plan,
                         {{"g", v.a, Mode::Read, v.windows_a, true},
                          {"y", v.a, Mode::Read, v.windows_y, v.log == 0},
                          {"o", v.o, Mode::Write, v.windows_o}});
  text.label = label_of("softmax_backward", v);
  text.params = SoftmaxBackwardParams::wgsl();
  const auto set = [&](const char* key, const char* value) {
    text.substitutions.emplace_back(key, value);
  };
  set("term",
      v.log ? "take_g(from_g, j)" : "take_g(from_g, j) * take_y(from_y, j)");
  set("result", !v.log        ? "(g - sum) * y"
                : v.plan.wide ? "g - m_exp4_nan(y) * sum"
                              : "g - m_exp(y) * sum");
  return text;
}

Variant as_listed(Variant v) {
  v.plan = v.plan.listed();
  return v;
}

template <bool backward>
std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  for (const DType a : wgsl::kFloats) {
    for (const DType o : wgsl::kFloats) {
      if (a != o && o != DType::F32 && !(backward && a == DType::F32)) continue;
      for (const uint8_t log : {0, 1}) {
        for (const RowPlan& plan : all_row_plans()) {
          all.push_back({a, o, plan, log, 1, 1, 1});
        }
      }
    }
  }
  return all;
}

Family<Variant> forward_family(describe, enumerate<false>, as_listed);
Family<Variant> backward_family(describe_backward, enumerate<true>, as_listed);

void forward(const Rows& rows, const Tensor& a, const Tensor& o, bool log) {
  SoftmaxParams p;
  fill_rows(p, rows);
  p.a_offset = offset_of(a);
  p.o_offset = offset_of(o);
  const RowPlan plan = choose(profile(), rows, have_quads({&a, &o}), 1);
  const Variant v{wgsl::dtype_of(a.scalar_type()),
                  wgsl::dtype_of(o.scalar_type()),
                  plan,
                  log,
                  windows_of(a),
                  1,
                  windows_of(o)};
  launch(forward_family(v), {&a, &o}, p, plan.workgroups(rows));
}

void backward(const Rows& rows, const Tensor& g, const Tensor& y,
              const Tensor& o, bool log) {
  SoftmaxBackwardParams p;
  fill_rows(p, rows);
  p.g_offset = offset_of(g);
  p.y_offset = offset_of(y);
  p.o_offset = offset_of(o);
  const RowPlan plan =
      choose(profile(), rows, have_quads({&g, &y, &o}), log ? 1 : 2);
  const Variant v{wgsl::dtype_of(g.scalar_type()),
                  wgsl::dtype_of(o.scalar_type()),
                  plan,
                  log,
                  windows_of(g),
                  windows_of(y),
                  windows_of(o)};
  launch(backward_family(v), {&g, &y, &o}, p, plan.workgroups(rows));
}

template <bool log>
Tensor& softmax_out(const Tensor& self, int64_t dim, bool half_to_float,
                    Tensor& out) {
  TORCH_CHECK(at::isFloatingType(self.scalar_type()),
              log ? "log_softmax" : "softmax",
              ": expected a floating point tensor, got ", self.scalar_type());
  check_result_dtype(out, half_to_float ? at::kFloat : self.scalar_type());
  resize_out(out, self.sizes());
  const Rows rows = rows_along(self, dim);
  if (self.numel() == 0) return out;
  const Tensor a = self.contiguous();
  const RowTarget target(out, rows, {&a});
  const Tensor& o = target.tensor();
  for_row_parts(rows, {&a, &o},
                [](const Rows& part, std::span<const Tensor> t) {
                  forward(part, t[0], t[1], log);
                });
  target.finish();
  return out;
}

template <bool log>
Tensor& softmax_backward_out(const Tensor& grad, const Tensor& output,
                             int64_t dim, at::ScalarType input_dtype,
                             Tensor& out) {
  check_result_dtype(out, input_dtype);
  resize_out(out, grad.sizes());
  const Rows rows = rows_along(grad, dim);
  if (grad.numel() == 0) return out;
  const Tensor g = grad.contiguous();
  const Tensor y = output.to(grad.scalar_type()).contiguous();
  const RowTarget target(out, rows, {&g, &y});
  const Tensor& o = target.tensor();
  for_row_parts(rows, {&g, &y, &o},
                [](const Rows& part, std::span<const Tensor> t) {
                  backward(part, t[0], t[1], t[2], log);
                });
  target.finish();
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"_softmax.out", &softmax_out<false>, takes_native>(m);
  native<"_log_softmax.out", &softmax_out<true>, takes_native>(m);
  native<"_softmax_backward_data.out", &softmax_backward_out<false>,
         takes_native>(m);
  native<"_log_softmax_backward_data.out", &softmax_backward_out<true>,
         takes_native>(m);
}

}  // namespace torch_webgpu::ops
