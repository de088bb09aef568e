#include "ops/norm/rows.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/ops/empty.h>

#include <fmt/format.h>

#include <algorithm>

#include "ops/kernel/launch.h"
#include "ops/kernel/parts.h"

namespace torch_webgpu::ops {

uint64_t Rows::workgroups() const {
  return by_group() ? rows() : ceil_div(rows(), kWorkgroup);
}

uint32_t RowPlan::workgroup() const {
  return threads == 1 ? kWorkgroup : threads;
}

uint64_t RowPlan::workgroups(const Rows& rows) const {
  return ceil_div(rows.rows(), threads == 1 ? kWorkgroup : 1);
}

std::string RowPlan::label() const {
  return fmt::format("{}{}{}{}", wide ? "_quads" : "",
                     subgroup       ? fmt::format("_subgroup{}", threads)
                     : threads == 1 ? std::string("_thread")
                                    : fmt::format("_group{}", threads),
                     held ? "_held" : "", even ? "_even" : "");
}

namespace {

// Elements that a workgroup keeps: half of the workgroup memory that every
// adapter has.
constexpr uint32_t kHeld = 2048;

std::string access_text(const RowPlan& plan, const RowOperand& operand,
                        uint32_t held) {
  const auto fill = [&](const char* text) {
    return wgsl::replace_all(text, "$", operand.name);
  };
  std::string text =
      fill(plan.wide ? "fn start_$(row: u32, lane: u32) -> u32 {\n"
                       "  return (p.$_offset >> 2u) + row * row_units()"
                     : "fn start_$(row: u32, lane: u32) -> u32 {\n"
                       "  let outer = row / p.inner;\n"
                       "  return p.$_offset + outer * (p.count - 1u) * p.inner"
                       " + row");
  text += plan.even ? " + lane;\n}\n" : ";\n}\n";
  const std::string load =
      fill(plan.wide ? "load4_$(start + j)" : "load_$(start + j * p.inner)");
  if (operand.mode == wgsl::Mode::Write) {
    text += fill(plan.wide ? "fn put_$(start: u32, j: u32, v: V) {\n"
                             "  store4_$(start + j, v);\n}\n"
                           : "fn put_$(start: u32, j: u32, v: V) {\n"
                             "  store_$(start + j * p.inner, v);\n}\n");
  }
  if (held > 0) {
    text += fill("var<workgroup> held_$: array<V, ") +
            fmt::format("{}>;\n", held) +
            fill("fn take_$(start: u32, j: u32) -> V {\n  let v = ") + load +
            fill(
                ";\n  held_$[j] = v;\n  return v;\n}\n"
                "fn get_$(start: u32, j: u32) -> V {\n"
                "  return held_$[j];\n}\n");
    return text;
  }
  text +=
      fill("fn get_$(start: u32, j: u32) -> V {\n  return ") + load + ";\n}\n";
  if (operand.again) {
    text += fill(
        "fn take_$(start: u32, j: u32) -> V {\n"
        "  return get_$(start, j);\n}\n");
  }
  return text;
}

}  // namespace

std::string unit_text(bool wide) {
  return wide ? "alias V = vec4<f32>;\nalias U = vec4<u32>;\n"
                "const width = 4u;\n"
              : "alias V = f32;\nalias U = u32;\nconst width = 1u;\n";
}

wgsl::KernelText row_kernel(const char* file, const RowPlan& plan,
                            std::initializer_list<RowOperand> operands) {
  wgsl::KernelText text;
  text.file = file;
  text.subgroups = plan.subgroup;
  std::string rows = unit_text(plan.wide);
  const bool alone = plan.threads == 1;
  const char* share = alone ? "own" : plan.subgroup ? "subgroup" : "group";
  rows += fmt::format("const threads = {}u;\n", plan.threads);
  if (plan.by_group()) {
    rows += "var<workgroup> group_values: array<f32, threads>;\n";
  }
  rows += fmt::format(
      "fn row_of(group: vec3<u32>, groups: vec3<u32>, lane: u32) -> u32 {{\n"
      "  return {};\n}}\n"
      "fn first_of(lane: u32) -> u32 {{\n  return {};\n}}\n"
      "fn unit_of(j: u32, lane: u32) -> u32 {{\n  return {};\n}}\n"
      "fn leads(lane: u32) -> bool {{\n  return {};\n}}\n"
      "fn row_units() -> u32 {{\n  return p.count / width;\n}}\n"
      "fn unit_max(v: V) -> f32 {{\n  return {};\n}}\n"
      "fn unit_max_bits(v: U) -> u32 {{\n  return {};\n}}\n"
      "fn unit_exp(v: V) -> V {{\n  return {}(v);\n}}\n"
      "fn row_sum(v: V, lane: u32) -> f32 {{\n"
      "  return {}_sum({}, lane);\n}}\n"
      "fn row_max(x: f32, lane: u32) -> f32 {{\n"
      "  return {}_max(x, lane);\n}}\n",
      alone ? fmt::format("thread_index(group, groups, lane, {}u)",
                          plan.workgroup())
            : std::string("group_index(group, groups)"),
      alone || plan.even ? "0u" : "lane", plan.even ? "j + lane" : "j",
      alone ? "true" : "lane == 0u",
      plan.wide ? "max(max(v.x, v.y), max(v.z, v.w))" : "v",
      plan.wide ? "max(max(v.x, v.y), max(v.z, v.w))" : "v",
      plan.wide ? "m_exp4" : "m_exp", share,
      plan.wide ? "(v.x + v.y) + (v.z + v.w)" : "v", share);
  uint32_t again = 0;
  for (const RowOperand& operand : operands)
    again += operand.again;
  const auto width = plan.wide ? wgsl::Width::Quad : wgsl::Width::Element;
  std::string span;
  for (const RowOperand& operand : operands) {
    text.operands.push_back({operand.name,
                             operand.dtype,
                             operand.mode,
                             operand.windows,
                             {},
                             width});
    if (!plan.wide && operand.mode == wgsl::Mode::Write &&
        wgsl::lanes_of(operand.dtype) > 1) {
      span = "lanes_" + operand.name;
    }
    rows += access_text(plan, operand,
                        plan.held && operand.again ? kHeld / 4 / again : 0);
  }
  rows += fmt::format(
      "fn first_put(lane: u32) -> u32 {{\n  return first_of(lane){};\n}}\n"
      "fn next_put(j: u32) -> u32 {{\n  return {};\n}}\n",
      span.empty() ? "" : " * " + span,
      span.empty() ? "j + threads"
                   : fmt::format("j + select(1u, 1u + (threads - 1u) * {0}, "
                                 "(j + 1u) % {0} == 0u)",
                                 span));
  text.substitutions = {{"rows", rows},
                        {"workgroup", std::to_string(plan.workgroup())}};
  return text;
}

RowPlan choose(const Profile& profile, const Rows& rows, bool wide,
               uint32_t again) {
  RowPlan plan;
  plan.wide = wide && rows.inner == 1 && rows.count % 4 == 0;
  const bool cpu = profile.kind == Profile::Kind::Cpu;
  // A CPU's barriers cost more than a row of this length.
  if (cpu && plan.wide && profile.lanes > 1 && profile.lanes <= kWorkgroup &&
      rows.count >= 4 * profile.lanes && rows.rows() >= 16) {
    plan.threads = uint16_t(profile.lanes);
    plan.subgroup = 1;
    plan.even = rows.count / 4 % profile.lanes == 0;
  } else if (rows.by_group()) {
    plan.threads = !cpu && plan.wide && rows.count >= 1024 ? 256 : kWorkgroup;
    // A CPU's caches hold a row anyway.
    plan.held = !cpu && plan.wide && again * rows.count <= kHeld;
  }
  return plan;
}

constexpr uint16_t kListedLanes = 8;

RowPlan RowPlan::listed() const {
  RowPlan plan = *this;
  if (subgroup) {
    plan.threads = kListedLanes;
  } else if (threads > 1) {
    plan.threads = kWorkgroup;
  }
  return plan;
}

std::vector<RowPlan> all_row_plans() {
  return {{1, 0, 0},
          {kWorkgroup, 0, 0},
          {1, 0, 1},
          {kWorkgroup, 0, 1},
          {kWorkgroup, 0, 1, 1},
          {kListedLanes, 1, 1},
          {kListedLanes, 1, 1, 0, 1}};
}

bool have_quads(std::initializer_list<const at::Tensor*> tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const at::Tensor* tensor) {
                       return !tensor->defined() || offset_of(*tensor) % 4 == 0;
                     });
}

Rows rows_along(const at::Tensor& self, int64_t dim) {
  Rows rows;
  if (self.dim() == 0) return rows;
  dim = at::maybe_wrap_dim(dim, self.dim());
  for (int64_t d = 0; d < self.dim(); ++d) {
    uint32_t& part = d < dim ? rows.outer : d == dim ? rows.count : rows.inner;
    part *= uint32_t(self.size(d));
  }
  return rows;
}

void for_row_parts(
    const Rows& rows, std::initializer_list<const at::Tensor*> tensors,
    c10::function_ref<void(const Rows&, std::span<const at::Tensor>)> run,
    uint32_t multiple) {
  // The rest is for what belongs to no row.
  const uint32_t bindings = device().info().limits.max_storage_buffers - 3;
  for_parts({rows.outer, bindings, multiple}, tensors, [&](const Part& part) {
    Rows some = rows;
    some.outer = uint32_t(part.count);
    run(some, part.tensors);
  });
}

RowTarget::RowTarget(const at::Tensor& out, const Rows& rows,
                     std::initializer_list<const at::Tensor*> inputs)
    : out_(out), target_(out) {
  const uint32_t lanes = wgsl::lanes_of(wgsl::dtype_of(out.scalar_type()));
  const bool whole_words =
      lanes == 1 || (rows.inner == 1 && rows.count % lanes == 0);
  const bool own_buffer = std::none_of(
      inputs.begin(), inputs.end(),
      [&](const at::Tensor* input) { return same_buffer(*input, out); });
  if (whole_words && own_buffer && out.is_contiguous() &&
      out.storage_offset() % lanes == 0) {
    return;
  }
  const auto wide =
      at::isFloatingType(out.scalar_type()) ? at::kFloat : at::kLong;
  target_ = at::empty(out.sizes(),
                      whole_words ? out.options() : out.options().dtype(wide));
}

void RowTarget::finish() const {
  if (!target_.is_same(out_)) out_.copy_(target_);
}

}  // namespace torch_webgpu::ops
