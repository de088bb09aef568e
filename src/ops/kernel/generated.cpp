#include "ops/kernel/generated.h"

#include <c10/util/SmallVector.h>
#include <fmt/format.h>

#include <cstring>
#include <map>

#include "hal/device.h"
#include "ops/kernel/launch.h"
#include "ops/runtime/runtime.h"

namespace torch_webgpu::ops {
namespace {

bool is_bound(const wgsl::Operand& operand) {
  return operand.mode == wgsl::Mode::Read ||
         operand.mode == wgsl::Mode::Write ||
         operand.mode == wgsl::Mode::Scatter;
}

std::string params_text(const std::vector<wgsl::Operand>& bound,
                        const GeneratedKernel::Fields& fields) {
  static const std::map<std::string, std::string> kTypes = {
      {"u32", "u32"},
      {"i32", "i32"},
      {"f32", "f32"},
      {"u64", "vec2<u32>"},
      {"u32x8", "array<vec4<u32>, 2>"},
      {"Walk", "Walk"}};
  std::string text = "struct Params {\n";
  for (const wgsl::Operand& operand : bound)
    text += fmt::format("  offset_{}: u32,\n", operand.name);
  const char* place = "@align(16) ";  // of the first field
  for (const auto& [name, type] : fields) {
    const auto found = kTypes.find(type);
    TORCH_CHECK_VALUE(found != kTypes.end(), "webgpu: the parameter ", name,
                      " has type ", type,
                      "; use u32, i32, f32, u64, u32x8 or Walk");
    text += fmt::format("  {}{}: {},\n", place, name, found->second);
    place = "";
  }
  return text + "}\n";
}

}  // namespace

GeneratedKernel::GeneratedKernel(wgsl::KernelText text, const Fields& fields,
                                 bool trusted) {
  for (const wgsl::Operand& operand : text.operands) {
    if (is_bound(operand)) bound_.push_back(operand);
  }
  text.params = params_text(bound_, fields);
  hal::ShaderSource source = wgsl::assemble(text);
  source.trusted = trusted;
  wgsl_ = source.wgsl;
  kernel_ = as_torch([&] { return device().compile_outside(source); });
}

void GeneratedKernel::launch(std::span<const at::Tensor> tensors,
                             std::span<const std::byte> values,
                             uint64_t workgroups) const {
  TORCH_CHECK_VALUE(tensors.size() == bound_.size(),
                    "webgpu: ", kernel_->label(), " takes ", bound_.size(),
                    " tensors, got ", tensors.size());
  c10::SmallVector<const at::TensorBase*, 8> bound;
  const size_t begin = ceil_div(tensors.size(), 4) * 16;
  std::vector<std::byte> params(begin + values.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i];
    const wgsl::Operand& operand = bound_[i];
    TORCH_CHECK_VALUE(wgsl::has_dtype(tensor.scalar_type()) &&
                          wgsl::dtype_of(tensor.scalar_type()) == operand.dtype,
                      "webgpu: ", kernel_->label(), ": operand ", operand.name,
                      " is ", wgsl::name_of(operand.dtype),
                      ", but its tensor is ", tensor.scalar_type());
    TORCH_CHECK_VALUE(windows_of(tensor) == operand.windows,
                      "webgpu: ", kernel_->label(), ": the tensor of operand ",
                      operand.name, " needs ", windows_of(tensor),
                      " bindings, but the kernel has ", operand.windows);
    const uint32_t offset = offset_of(tensor);
    std::memcpy(params.data() + 4 * i, &offset, sizeof offset);
    bound.push_back(&tensor);
  }
  if (!values.empty())
    std::memcpy(params.data() + begin, values.data(), values.size());
  launch_bytes(*kernel_, bound, params, workgroups);
}

}  // namespace torch_webgpu::ops
