#include <ATen/ops/empty.h>

#include "ops/index/index_walk.h"
#include "ops/index/indexed_kernel.h"
#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/runtime/faults.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::DType;
using wgsl::Mode;

struct JoinVariant {
  uint8_t kind, first, windows_i, windows_o;
  static constexpr uint8_t JoinVariant::* kWindows[] = {
      &JoinVariant::windows_i, &JoinVariant::windows_o};
};

wgsl::KernelText describe_join(const JoinVariant& v) {
  const auto kind = static_cast<IndexKind>(v.kind);
  wgsl::KernelText text;
  text.file = "join_indices";
  text.label = fmt::format("{}_indices_{}_w{}{}", v.first ? "first" : "join",
                           name_of(kind), v.windows_i, v.windows_o);
  text.operands = {index_operand(kind, v.windows_i),
                   {"o", DType::I32, Mode::Write, v.windows_o, ""},
                   fault_operand(kind)};
  text.walks = {{"at", {"i"}}};
  text.substitutions = {{"before", v.first ? "0u" : "read_o(e)"},
                        {"place", place_text(kind)},
                        {"workgroup", std::to_string(kWorkgroup)}};
  text.params = IndexedParams::wgsl();
  return text;
}

std::vector<JoinVariant> enumerate_joins() {
  std::vector<JoinVariant> all;
  for (const IndexKind kind : {IndexKind::Long, IndexKind::Int}) {
    all.push_back({uint8_t(kind), 1, 1, 1});
    all.push_back({uint8_t(kind), 0, 1, 1});
  }
  return all;
}

Family<JoinVariant> joins(describe_join, enumerate_joins);

}  // namespace

at::Tensor join_indices(const char* op, at::TensorList indices,
                        at::IntArrayRef bounds, at::IntArrayRef strides) {
  const at::Tensor out =
      at::empty(indices[0].sizes(), indices[0].options().dtype(at::kInt));
  for (size_t j = 0; j < indices.size(); ++j) {
    at::Tensor index = indices[j];
    IndexedParams p;
    const at::DimVector sizes(index.sizes().begin(), index.sizes().end());
    if (!set_walk(p.at, sizes, {{strides_of(index), p.at_i}})) {
      index = index.contiguous();
      p.at.add(uint32_t(index.numel()));
      p.at_i[0] = 1;
    }
    p.count = uint32_t(index.numel());
    p.offset_i = offset_of(index);
    p.bound = uint32_t(bounds[j]);
    p.stride = uint32_t(strides[j]);
    p.wraps = 1;
    p.fault = fault_code(op);
    const JoinVariant v{uint8_t(kind_of(index)), j == 0, windows_of(index),
                        windows_of(out)};
    const at::TensorBase* const tensors[] = {&index, &out};
    launch_bytes(joins(v), tensors, std::as_bytes(std::span(&p, 1)),
                 ceil_div(p.count, kWorkgroup), true);
  }
  return out;
}

}  // namespace torch_webgpu::ops
