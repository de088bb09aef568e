#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/util/irange.h>
#include <fmt/format.h>

#include <algorithm>

#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/kernel/profile.h"
#include "ops/norm/layer_norm.h"
#include "ops/norm/rows.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using wgsl::DType;
using wgsl::Mode;
using wgsl::Width;

struct Variant {
  NormKind kind;
  DType a;
  DType o;
  DType w;  // of weight and bias
  uint8_t has_weight;
  uint8_t has_bias;
  RowPlan plan;
  uint8_t windows_a;
  uint8_t windows_g;
  uint8_t windows_o;
  uint8_t together;  // rows of a workgroup
  static constexpr uint8_t Variant::* kWindows[] = {
      &Variant::windows_a, &Variant::windows_g, &Variant::windows_o};
};

WEBGPU_PARAMS(NormParams, ROW_PARAMS, (u32, groups), (u32, per_group),
              (u32, spatial), (f32, eps), (u32, a_offset), (u32, w_offset),
              (u32, b_offset), (u32, o_offset), (u32, m_offset),
              (u32, r_offset));

WEBGPU_PARAMS(NormBackwardParams, ROW_PARAMS, (u32, groups), (u32, per_group),
              (u32, spatial), (u32, g_offset), (u32, a_offset), (u32, m_offset),
              (u32, r_offset), (u32, w_offset), (u32, o_offset));

WEBGPU_PARAMS(NormWeightsParams, (u32, outer), (u32, channels), (u32, spatial),
              (u32, groups), (u32, per_group), (u32, splits), (u32, chunk),
              (u32, g_offset), (u32, a_offset), (u32, m_offset),
              (u32, r_offset));

const char* name_of_kind(NormKind kind) {
  switch (kind) {
    case NormKind::Layer:
      return "layer_norm";
    case NormKind::Rms:
      return "rms_norm";
    case NormKind::Group:
      return "group_norm";
  }
  return "";
}

std::string label_of(const char* part, const Variant& v) {
  auto label = fmt::format("{}{}_{}_{}", name_of_kind(v.kind), part,
                           name_of(v.a), name_of(v.o));
  if (v.has_weight) label += fmt::format("_w_{}", name_of(v.w));
  if (v.has_bias) label += fmt::format("_b_{}", name_of(v.w));
  label += v.plan.label();
  if (v.together > 1) label += fmt::format("_x{}", v.together);
  if (v.windows_a * v.windows_g * v.windows_o != 1) {
    label += fmt::format("_w{}{}{}", v.windows_a, v.windows_g, v.windows_o);
  }
  return label;
}

// The channel of the unit j, for its weight and bias.
std::string channel_of(const Variant& v) {
  return v.kind == NormKind::Group ? "(row % p.groups) * p.per_group + "
                                     "width * unit_of(j, lane) / p.spatial"
                                   : "unit_of(j, lane)";
}

// A channel's weight or bias: a quad has its own, unless the channel is wider.
bool has_quads(const Variant& v) {
  return v.plan.wide && v.kind != NormKind::Group;
}
std::string first_of(const Variant& v, const char* name) {
  return fmt::format("p.{}_offset{}", name, has_quads(v) ? " >> 2u" : "");
}
std::string parameter_of(const Variant& v, const char* name) {
  return fmt::format("V({1}_{0}(first_{0} + c))", name,
                     has_quads(v) ? "load4" : "load");
}

wgsl::Operand parameter(const Variant& v, const char* name) {
  return {name, v.w, Mode::Read,
          1,    {},  has_quads(v) ? Width::Quad : Width::Element};
}

// The body of moments() in wgsl/norm/layer_norm.wgsl.
std::string moments_of(const Variant& v) {
  if (v.kind == NormKind::Rms) {
    return "let own = distances_of(a, first, units, 0.0, 0.0);\n"
           "  return RowMoments(0.0, 0.0, row_sum(own.square, lane));";
  }
  if (!v.plan.wide || v.plan.by_group()) {
    return fmt::format(
        "let origin = {};\n"
        "  let own = distances_of(a, first, units, origin, 0.0);\n"
        "  let far = row_sum(own.sum, lane) / f32(p.count);\n"
        "  let again = distances_of(a, first, units, origin, far);\n"
        "  return RowMoments(origin, far, row_sum(again.square, lane));",
        v.plan.wide ? "load4_a(a).x" : "load_a(a)");
  }
  // One pass, with distances from the mean of some units; a second one where
  // that was so far from the row's mean that the squares have lost digits.
  return "let x = get_a(a, min(first, units - 1u));\n"
         "  let origin = row_sum(x, lane) / f32(threads * width);\n"
         "  let own = distances_of(a, first, units, origin, 0.0);\n"
         "  let far = row_sum(own.sum, lane) / f32(p.count);\n"
         "  let excess = far * far * f32(p.count);\n"
         "  let square = row_sum(own.square, lane) - excess;\n"
         "  let exact = excess <= 4.0 * square;\n"
         "  let end = select(units, 0u, exact);\n"
         "  let again = distances_of(a, first, end, origin, far);\n"
         "  let square_again = row_sum(again.square, lane);\n"
         "  return RowMoments(\n"
         "    origin, far, select(square_again, square, exact));";
}

wgsl::KernelText describe(const Variant& v) {
  const bool rms = v.kind == NormKind::Rms;
  auto text = row_kernel("layer_norm", v.plan,
                         {{"a", v.a, Mode::Read, v.windows_a, true},
                          {"o", v.o, Mode::Write, v.windows_o}});
  text.label = label_of("", v);
  text.params = NormParams::wgsl();
  if (!rms) text.operands.push_back({"m", DType::F32, Mode::Write, 1, {}});
  text.operands.push_back({"r", DType::F32, Mode::Write, 1, {}});
  if (v.has_weight) text.operands.push_back(parameter(v, "w"));
  if (v.has_bias) text.operands.push_back(parameter(v, "b"));
  const auto set = [&](const char* key, std::string value) {
    text.substitutions.emplace_back(key, std::move(value));
  };
  for (const auto i : c10::irange(v.together))
    text.repeat.push_back(std::to_string(i));
  set("together", std::to_string(v.together));
  set("channel", channel_of(v));
  set("distance", rms ? "take_a(a, j)" : "(take_a(a, j) - origin) - far");
  set("moments", moments_of(v));
  set("first_w", first_of(v, "w"));
  set("first_b", first_of(v, "b"));
  set("weight", v.has_weight ? parameter_of(v, "w") : "V(1.0)");
  set("bias", v.has_bias ? parameter_of(v, "b") : "V(0.0)");
  set("result", fmt::format("x{}{}", v.has_weight ? " * w" : "",
                            v.has_bias ? " + b" : ""));
  set("statistics",
      rms ? "store_r(p.r_offset + at, rstd);"
          : "store_m(p.m_offset + at, found.origin + found.far);\n"
            "      store_r(p.r_offset + at, rstd);");
  return text;
}

wgsl::KernelText describe_backward(const Variant& v) {
  const bool rms = v.kind == NormKind::Rms;
  auto text = row_kernel("layer_norm_backward", v.plan,
                         {{"g", v.a, Mode::Read, v.windows_g, true},
                          {"a", v.a, Mode::Read, v.windows_a, true},
                          {"o", v.o, Mode::Write, v.windows_o}});
  text.label = label_of("_backward", v);
  text.params = NormBackwardParams::wgsl();
  if (!rms) text.operands.push_back({"m", DType::F32, Mode::Read, 1, {}});
  text.operands.push_back({"r", DType::F32, Mode::Read, 1, {}});
  if (v.has_weight) text.operands.push_back(parameter(v, "w"));
  const auto set = [&](const char* key, std::string value) {
    text.substitutions.emplace_back(key, std::move(value));
  };
  set("channel", channel_of(v));
  set("first_w", first_of(v, "w"));
  set("gradient", v.has_weight ? "g * " + parameter_of(v, "w") : "g");
  set("mean", rms ? "0.0" : "load_m(p.m_offset + row)");
  set("shift", rms ? "0.0" : "row_sum(sum, lane) / f32(p.count)");
  return text;
}

wgsl::KernelText describe_weights(const Variant& v) {
  const bool group = v.kind == NormKind::Group;
  const bool wide = v.plan.wide;
  wgsl::KernelText text;
  text.label = label_of("_backward_weights", v);
  text.file = "layer_norm_weights";
  text.params = NormWeightsParams::wgsl();
  const Width width = wide ? Width::Quad : Width::Element;
  text.operands = {{"g", v.a, Mode::Read, v.windows_g, {}, width},
                   {"a", v.a, Mode::Read, v.windows_a, {}, width}};
  if (v.kind != NormKind::Rms) {
    text.operands.push_back({"m", DType::F32, Mode::Read, 1, {}});
  }
  text.operands.push_back({"r", DType::F32, Mode::Read, 1, {}});
  text.operands.push_back({"w", DType::F32, Mode::Write, 1, {}, width});
  text.operands.push_back({"b", DType::F32, Mode::Write, 1, {}, width});
  text.substitutions = {
      {"unit", unit_text(wide)},
      {"load", wide ? "load4" : "load"},
      {"store", wide ? "store4" : "store"},
      {"spatial", group ? "p.spatial" : "1u"},
      {"statistics", group ? "n * p.groups + c / p.per_group" : "n"},
      {"mean", v.kind == NormKind::Rms ? "0.0" : "load_m(p.m_offset + row)"}};
  return text;
}

// Rows that share what is read of weight and bias, where a subgroup has one
// after the other.
constexpr uint8_t kTogether = 4;
bool may_share(const Variant& v) {
  return v.plan.subgroup && has_quads(v) && (v.has_weight || v.has_bias);
}

Variant as_listed(Variant v) {
  v.plan = v.plan.listed();
  return v;
}

// A half type's rows that do not begin at words are written as float32.
template <bool backward>
std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  for (const auto kind : {NormKind::Layer, NormKind::Rms, NormKind::Group}) {
    for (const DType a : wgsl::kFloats) {
      for (const DType o : {a, DType::F32}) {
        for (const RowPlan& plan : all_row_plans()) {
          const auto add = [&](DType w, bool has_weight, bool has_bias) {
            Variant v{kind, a, o, w, has_weight, has_bias, plan, 1, 1, 1, 1};
            all.push_back(v);
            v.together = kTogether;
            if (!backward && may_share(v)) all.push_back(v);
          };
          add(a, false, false);
          for (const DType w : {a, DType::F32}) {
            add(w, true, false);
            if (!backward && kind != NormKind::Rms) {
              add(w, true, true);
              add(w, false, true);
            }
            if (a == DType::F32) break;
          }
        }
        if (a == DType::F32) break;
      }
    }
  }
  return all;
}

std::vector<Variant> enumerate_weights() {
  std::vector<Variant> all;
  for (const auto kind : {NormKind::Layer, NormKind::Rms, NormKind::Group}) {
    for (const DType a : wgsl::kFloats) {
      for (const uint8_t wide : {0, 1}) {
        if (wide && kind == NormKind::Group) continue;
        Variant v{kind,         a, DType::F32, DType::F32, 0, 0,
                  {1, 0, wide}, 1, 1,          1,          1};
        all.push_back(v);
      }
    }
  }
  return all;
}

Family<Variant> forward_family(describe, enumerate<false>, as_listed);
Family<Variant> backward_family(describe_backward, enumerate<true>, as_listed);
Family<Variant> weights_family(describe_weights, enumerate_weights);

Rows rows_of(const NormShape& shape) {
  Rows rows;
  rows.outer = uint32_t(shape.rows);
  rows.count = uint32_t(shape.count);
  return rows;
}

uint32_t offset_if_any(const Tensor& tensor) {
  return tensor.defined() ? offset_of(tensor) : 0;
}

template <class Params>
void fill_shape(Params& p, const NormShape& shape) {
  fill_rows(p, rows_of(shape));
  p.groups = uint32_t(shape.groups);
  p.per_group = uint32_t(shape.count / shape.spatial);
  p.spatial = uint32_t(shape.spatial);
}

Variant variant_for(const NormShape& shape, const RowPlan& plan,
                    const Tensor& a, const Tensor& weight, const Tensor& bias,
                    const Tensor& o) {
  const Tensor& typed = weight.defined() ? weight : bias;
  return {shape.kind,
          wgsl::dtype_of(a.scalar_type()),
          wgsl::dtype_of(o.scalar_type()),
          wgsl::dtype_of((typed.defined() ? typed : a).scalar_type()),
          weight.defined(),
          bias.defined(),
          plan,
          windows_of(a),
          1,
          windows_of(o),
          1};
}

// A quad of a group norm lies within one channel.
bool has_whole_quads(const NormShape& shape) {
  return shape.kind != NormKind::Group || shape.spatial % 4 == 0;
}

Tensor dense(const Tensor& tensor) {
  return tensor.defined() ? tensor.contiguous() : tensor;
}

void launch_all(const hal::Kernel& kernel,
                std::initializer_list<const Tensor*> tensors,
                std::span<const std::byte> params, uint64_t workgroups) {
  c10::SmallVector<const at::TensorBase*, 8> bound;
  for (const Tensor* tensor : tensors) {
    if (tensor->defined()) bound.push_back(tensor);
  }
  launch_bytes(kernel, {bound.data(), bound.size()}, params, workgroups);
}

template <class Params>
std::span<const std::byte> bytes_of(const Params& p) {
  return std::as_bytes(std::span(&p, 1));
}

// The same for some of the rows.
NormShape part_of(NormShape shape, const Rows& part) {
  shape.rows = part.outer;
  return shape;
}

void forward(const NormShape& shape, const Tensor& a, const Tensor& w,
             const Tensor& b, double eps, const Tensor& o, const Tensor& mean,
             const Tensor& rstd) {
  const Rows rows = rows_of(shape);
  NormParams p;
  fill_shape(p, shape);
  p.eps = float(eps);
  p.a_offset = offset_if_any(a);
  p.w_offset = offset_if_any(w);
  p.b_offset = offset_if_any(b);
  p.o_offset = offset_if_any(o);
  p.m_offset = offset_if_any(mean);
  p.r_offset = offset_if_any(rstd);
  const RowPlan plan =
      choose(profile(), rows,
             has_whole_quads(shape) && have_quads({&a, &w, &b, &o}), 1);
  Variant v = variant_for(shape, plan, a, w, b, o);
  if (may_share(v) && rows.rows() >= 16 * kTogether) v.together = kTogether;
  launch_all(forward_family(v), {&a, &o, &mean, &rstd, &w, &b}, bytes_of(p),
             ceil_div(plan.workgroups(rows), uint64_t(v.together)));
}

void backward_input(const NormShape& shape, const Tensor& g, const Tensor& a,
                    const Tensor& mean, const Tensor& rstd, const Tensor& w,
                    const Tensor& o) {
  const Rows rows = rows_of(shape);
  NormBackwardParams p;
  fill_shape(p, shape);
  p.g_offset = offset_if_any(g);
  p.a_offset = offset_if_any(a);
  p.m_offset = offset_if_any(mean);
  p.r_offset = offset_if_any(rstd);
  p.w_offset = offset_if_any(w);
  p.o_offset = offset_if_any(o);
  const RowPlan plan =
      choose(profile(), rows,
             has_whole_quads(shape) && have_quads({&g, &a, &w, &o}), 2);
  Variant v = variant_for(shape, plan, a, w, {}, o);
  v.windows_g = windows_of(g);
  launch_all(backward_family(v), {&g, &a, &o, &mean, &rstd, &w}, bytes_of(p),
             plan.workgroups(rows));
}

}  // namespace

void norm_forward(const NormShape& shape, const Tensor& input,
                  const Tensor& weight, const Tensor& bias, double eps,
                  const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  if (shape.rows == 0 || shape.count == 0) return;
  const Rows rows = rows_of(shape);
  const Tensor a = dense(input), w = dense(weight), b = dense(bias);
  const RowTarget target(out, rows, {&a});
  const Tensor& o = target.tensor();
  for_row_parts(
      rows, {&a, &o, &mean, &rstd},
      [&](const Rows& part, std::span<const Tensor> t) {
        forward(part_of(shape, part), t[0], w, b, eps, t[1], t[2], t[3]);
      },
      uint32_t(shape.groups));
  target.finish();
}

void norm_backward_input(const NormShape& shape, const Tensor& grad,
                         const Tensor& input, const Tensor& mean,
                         const Tensor& rstd, const Tensor& weight,
                         const Tensor& out) {
  if (shape.rows == 0 || shape.count == 0) return;
  const Rows rows = rows_of(shape);
  const Tensor g = dense(grad), a = dense(input), w = dense(weight);
  const RowTarget target(out, rows, {&g, &a});
  const Tensor& o = target.tensor();
  for_row_parts(
      rows, {&g, &a, &mean, &rstd, &o},
      [&](const Rows& part, std::span<const Tensor> t) {
        backward_input(part_of(shape, part), t[0], t[1], t[2], t[3], w, t[4]);
      },
      uint32_t(shape.groups));
  target.finish();
}

std::tuple<Tensor, Tensor> norm_backward_weights(const NormShape& shape,
                                                 const Tensor& grad,
                                                 const Tensor& input,
                                                 const Tensor& mean,
                                                 const Tensor& rstd) {
  const auto options = input.options().dtype(at::kFloat);
  const int64_t channels = shape.channels();
  if (shape.rows == 0 || shape.count == 0) {
    return {at::zeros({channels}, options), at::zeros({channels}, options)};
  }
  const Tensor g = dense(grad), a = dense(input);
  // Parts of about 32 rows, as many as keep a GPU busy.
  constexpr int64_t kRowsOfPart = 32, kEnoughThreads = 16384;
  const bool wide = shape.kind != NormKind::Group && channels % 4 == 0 &&
                    have_quads({&g, &a});
  const int64_t splits = std::clamp<int64_t>(
      kEnoughThreads / channels, 1,
      int64_t(ceil_div(uint64_t(shape.outer()), kRowsOfPart)));
  const Tensor w = at::empty({splits, channels}, options);
  const Tensor b = at::empty({splits, channels}, options);
  NormWeightsParams p;
  p.outer = uint32_t(shape.outer());
  p.channels = uint32_t(channels);
  p.spatial = uint32_t(shape.spatial);
  p.groups = uint32_t(shape.groups);
  p.per_group = uint32_t(shape.count / shape.spatial);
  p.splits = uint32_t(splits);
  p.chunk = uint32_t(ceil_div(p.outer, p.splits));
  p.g_offset = offset_if_any(g);
  p.a_offset = offset_if_any(a);
  p.m_offset = offset_if_any(mean);
  p.r_offset = offset_if_any(rstd);
  const Variant v{shape.kind,
                  wgsl::dtype_of(a.scalar_type()),
                  DType::F32,
                  DType::F32,
                  0,
                  0,
                  {1, 0, wide},
                  windows_of(a),
                  windows_of(g),
                  1,
                  1};
  launch_all(
      weights_family(v), {&g, &a, &mean, &rstd, &w, &b}, bytes_of(p),
      ceil_div(uint64_t(channels * splits / (wide ? 4 : 1)), kWorkgroup));
  if (splits == 1) return {w.squeeze(0), b.squeeze(0)};
  return {w.sum(0), b.sum(0)};
}

}  // namespace torch_webgpu::ops
