#include "ops/norm/rows.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/ops/empty.h>

#include <fmt/format.h>

#include <algorithm>

#include "ops/kernel/launch.h"

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
  return fmt::format("{}{}", wide ? "_quads" : "",
                     subgroup       ? fmt::format("_subgroup{}", threads)
                     : threads == 1 ? std::string("_thread")
                                    : fmt::format("_group{}", threads));
}

std::vector<std::pair<std::string, std::string>> RowPlan::placement() const {
  const bool alone = threads == 1;
  std::string row = "group_index(group, groups)";
  if (alone)
    row = fmt::format("thread_index(group, groups, lane, {}u)", workgroup());
  return {
      {"threads", std::to_string(threads)},
      {"workgroup", std::to_string(workgroup())},
      {"row", row},
      {"first", alone ? "0u" : "lane"},
      {"share", alone      ? "own"
                : subgroup ? "subgroup"
                           : "group"},
  };
}

RowPlan choose(const Profile& profile, const Rows& rows, bool wide) {
  RowPlan plan;
  plan.wide = wide && rows.inner == 1 && rows.count % 4 == 0;
  const bool cpu = profile.kind == Profile::Kind::Cpu;
  // A CPU's barriers cost more than a row of this length.
  if (cpu && plan.wide && profile.lanes > 1 && profile.lanes <= kWorkgroup &&
      rows.count >= 4 * profile.lanes && rows.rows() >= 16) {
    plan.threads = uint16_t(profile.lanes);
    plan.subgroup = 1;
  } else if (rows.by_group()) {
    plan.threads = !cpu && plan.wide && rows.count >= 1024 ? 256 : kWorkgroup;
  }
  return plan;
}

std::vector<RowPlan> all_row_plans() {
  return {{1, 0, 0},          {kWorkgroup, 0, 0}, {1, 0, 1},
          {kWorkgroup, 0, 1}, {256, 0, 1},        {8, 1, 1}};
}

bool has_quads(const at::Tensor& tensor) {
  return !tensor.defined() ||
         (windows_of(tensor) == 1 && tensor.storage_offset() % 4 == 0);
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
