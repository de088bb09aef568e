#include "ops/norm/rows.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "ops/kernel/launch.h"

namespace torch_webgpu::ops {

uint64_t Rows::workgroups() const {
  return by_group() ? rows() : ceil_div(rows(), kWorkgroup);
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
