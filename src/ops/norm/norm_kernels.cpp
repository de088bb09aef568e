#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>

#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/norm/layer_norm.h"
#include "ops/norm/rows.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using wgsl::DType;
using wgsl::Mode;

struct Variant {
  NormKind kind;
  DType a;
  DType o;
  DType w;  // of weight and bias
  uint8_t has_weight;
  uint8_t has_bias;
  uint8_t by_group;
  uint8_t windows_a;
  uint8_t windows_g;
  uint8_t windows_o;
  static constexpr uint8_t Variant::* kWindows[] = {
      &Variant::windows_a, &Variant::windows_g, &Variant::windows_o};
};

// clang-format off
#define NORM_PARAMS(X) \
  X(u32, rows) \
  X(u32, count) \
  X(u32, groups) \
  X(u32, per_group) \
  X(u32, spatial) \
  X(f32, eps) \
  X(u32, a_offset) \
  X(u32, w_offset) \
  X(u32, b_offset) \
  X(u32, o_offset)
// clang-format on
WEBGPU_PARAMS(NormParams, NORM_PARAMS);

// clang-format off
#define NORM_BACKWARD_PARAMS(X) \
  X(u32, rows) \
  X(u32, count) \
  X(u32, groups) \
  X(u32, per_group) \
  X(u32, spatial) \
  X(u32, g_offset) \
  X(u32, a_offset) \
  X(u32, m_offset) \
  X(u32, r_offset) \
  X(u32, w_offset) \
  X(u32, o_offset)
// clang-format on
WEBGPU_PARAMS(NormBackwardParams, NORM_BACKWARD_PARAMS);

// clang-format off
#define NORM_WEIGHTS_PARAMS(X) \
  X(u32, outer) \
  X(u32, channels) \
  X(u32, spatial) \
  X(u32, groups) \
  X(u32, per_group) \
  X(u32, splits) \
  X(u32, chunk) \
  X(u32, g_offset) \
  X(u32, a_offset) \
  X(u32, m_offset) \
  X(u32, r_offset)
// clang-format on
WEBGPU_PARAMS(NormWeightsParams, NORM_WEIGHTS_PARAMS);

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
  label += v.by_group ? "_group" : "_thread";
  if (v.windows_a * v.windows_g * v.windows_o != 1) {
    label += fmt::format("_w{}{}{}", v.windows_a, v.windows_g, v.windows_o);
  }
  return label;
}

using Substitutions = std::vector<std::pair<std::string, std::string>>;

Substitutions placement(const Variant& v) {
  return {
      {"threads", v.by_group ? "64" : "1"},
      {"row", v.by_group ? "group_index(group, groups)"
                         : "thread_index(group, groups, lane, 64u)"},
      {"first", v.by_group ? "lane" : "0u"},
      {"share", v.by_group ? "group" : "own"},
      {"channel", v.kind == NormKind::Group
                      ? "(row % p.groups) * p.per_group + j / p.spatial"
                      : "j"},
  };
}

wgsl::KernelText describe(const Variant& v) {
  const bool rms = v.kind == NormKind::Rms;
  wgsl::KernelText text;
  text.label = label_of("", v);
  text.file = "layer_norm";
  text.params = NormParams::wgsl();
  text.operands = {{"a", v.a, Mode::Read, v.windows_a, {}}};
  if (v.has_weight) text.operands.push_back({"w", v.w, Mode::Read, 1, {}});
  if (v.has_bias) text.operands.push_back({"b", v.w, Mode::Read, 1, {}});
  text.operands.push_back({"o", v.o, Mode::Write, v.windows_o, {}});
  if (!rms) text.operands.push_back({"m", DType::F32, Mode::Write, 1, {}});
  text.operands.push_back({"r", DType::F32, Mode::Write, 1, {}});
  std::string result = "x";
  if (v.has_weight) result += " * load_w(p.w_offset + c)";
  if (v.has_bias) result += " + load_b(p.b_offset + c)";
  text.substitutions = placement(v);
  text.substitutions.push_back(
      {"mean", rms ? "0.0"
                   : fmt::format("{}_sum(sum_of(start, first), lane) "
                                 "/ f32(p.count)",
                                 v.by_group ? "group" : "own")});
  text.substitutions.push_back({"result", result});
  text.substitutions.push_back(
      {"statistics", rms ? "store_r(row, rstd);"
                         : "store_m(row, mean);\n    store_r(row, rstd);"});
  return text;
}

wgsl::KernelText describe_backward(const Variant& v) {
  const bool rms = v.kind == NormKind::Rms;
  wgsl::KernelText text;
  text.label = label_of("_backward", v);
  text.file = "layer_norm_backward";
  text.params = NormBackwardParams::wgsl();
  text.operands = {{"g", v.a, Mode::Read, v.windows_g, {}},
                   {"a", v.a, Mode::Read, v.windows_a, {}}};
  if (!rms) text.operands.push_back({"m", DType::F32, Mode::Read, 1, {}});
  text.operands.push_back({"r", DType::F32, Mode::Read, 1, {}});
  if (v.has_weight) text.operands.push_back({"w", v.w, Mode::Read, 1, {}});
  text.operands.push_back({"o", v.o, Mode::Write, v.windows_o, {}});
  std::string gradient = "load_g(p.g_offset + row * p.count + j)";
  if (v.has_weight) gradient += " * load_w(p.w_offset + c)";
  text.substitutions = placement(v);
  text.substitutions.push_back({"gradient", gradient});
  text.substitutions.push_back(
      {"mean", rms ? "0.0" : "load_m(p.m_offset + row)"});
  text.substitutions.push_back(
      {"shift", rms ? "0.0"
                    : fmt::format("{}_sum(sum, lane) / f32(p.count)",
                                  v.by_group ? "group" : "own")});
  return text;
}

wgsl::KernelText describe_weights(const Variant& v) {
  const bool rms = v.kind == NormKind::Rms;
  wgsl::KernelText text;
  text.label = label_of("_backward_weights", v);
  text.file = "layer_norm_weights";
  text.params = NormWeightsParams::wgsl();
  text.operands = {{"g", v.a, Mode::Read, v.windows_g, {}},
                   {"a", v.a, Mode::Read, v.windows_a, {}}};
  if (!rms) text.operands.push_back({"m", DType::F32, Mode::Read, 1, {}});
  text.operands.push_back({"r", DType::F32, Mode::Read, 1, {}});
  text.operands.push_back({"w", DType::F32, Mode::Write, 1, {}});
  text.operands.push_back({"b", DType::F32, Mode::Write, 1, {}});
  text.substitutions = {
      {"statistics",
       v.kind == NormKind::Group ? "n * p.groups + c / p.per_group" : "n"},
      {"mean", rms ? "0.0" : "load_m(p.m_offset + row)"}};
  return text;
}

// A half type's rows that do not begin at words are written as float32.
template <bool backward>
std::vector<Variant> enumerate() {
  std::vector<Variant> all;
  for (const auto kind : {NormKind::Layer, NormKind::Rms, NormKind::Group}) {
    for (const DType a : wgsl::kFloats) {
      for (const DType o : {a, DType::F32}) {
        if (o == DType::F32 && a != o && kind == NormKind::Group) continue;
        for (const uint8_t by_group : {0, 1}) {
          all.push_back({kind, a, o, a, 0, 0, by_group, 1, 1, 1});
          for (const DType w : {a, DType::F32}) {
            all.push_back({kind, a, o, w, 1, 0, by_group, 1, 1, 1});
            if (!backward && kind != NormKind::Rms) {
              all.push_back({kind, a, o, w, 1, 1, by_group, 1, 1, 1});
              all.push_back({kind, a, o, w, 0, 1, by_group, 1, 1, 1});
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
      all.push_back({kind, a, DType::F32, DType::F32, 0, 0, 0, 1, 1, 1});
    }
  }
  return all;
}

Family<Variant> forward_family(describe, enumerate<false>);
Family<Variant> backward_family(describe_backward, enumerate<true>);
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
  p.rows = uint32_t(shape.rows);
  p.count = uint32_t(shape.count);
  p.groups = uint32_t(shape.groups);
  p.per_group = uint32_t(shape.count / shape.spatial);
  p.spatial = uint32_t(shape.spatial);
}

Variant variant_for(const NormShape& shape, const Rows& rows, const Tensor& a,
                    const Tensor& weight, const Tensor& bias, const Tensor& o) {
  const Tensor& typed = weight.defined() ? weight : bias;
  return {shape.kind,
          wgsl::dtype_of(a.scalar_type()),
          wgsl::dtype_of(o.scalar_type()),
          wgsl::dtype_of((typed.defined() ? typed : a).scalar_type()),
          weight.defined(),
          bias.defined(),
          rows.by_group(),
          windows_of(a),
          1,
          windows_of(o)};
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

}  // namespace

void norm_forward(const NormShape& shape, const Tensor& input,
                  const Tensor& weight, const Tensor& bias, double eps,
                  const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  if (shape.rows == 0 || shape.count == 0) return;
  const Rows rows = rows_of(shape);
  const Tensor a = dense(input), w = dense(weight), b = dense(bias);
  const RowTarget target(out, rows, {&a});
  const Tensor& o = target.tensor();
  NormParams p;
  fill_shape(p, shape);
  p.eps = float(eps);
  p.a_offset = offset_if_any(a);
  p.w_offset = offset_if_any(w);
  p.b_offset = offset_if_any(b);
  p.o_offset = offset_if_any(o);
  const Variant v = variant_for(shape, rows, a, w, b, o);
  launch_all(forward_family(v), {&a, &w, &b, &o, &mean, &rstd}, bytes_of(p),
             rows.workgroups());
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
  NormBackwardParams p;
  fill_shape(p, shape);
  p.g_offset = offset_if_any(g);
  p.a_offset = offset_if_any(a);
  p.m_offset = offset_if_any(mean);
  p.r_offset = offset_if_any(rstd);
  p.w_offset = offset_if_any(w);
  p.o_offset = offset_if_any(o);
  Variant v = variant_for(shape, rows, a, w, {}, o);
  v.windows_g = windows_of(g);
  launch_all(backward_family(v), {&g, &a, &mean, &rstd, &w, &o}, bytes_of(p),
             rows.workgroups());
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
                  0,
                  windows_of(a),
                  windows_of(g),
                  1};
  launch_all(weights_family(v), {&g, &a, &mean, &rstd, &w, &b}, bytes_of(p),
             ceil_div(uint64_t(channels * splits), kWorkgroup));
  if (splits == 1) return {w.squeeze(0), b.squeeze(0)};
  return {w.sum(0), b.sum(0)};
}

}  // namespace torch_webgpu::ops
