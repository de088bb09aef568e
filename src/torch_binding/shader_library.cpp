#include "torch_binding/shader_library.h"

#include "hal/device.h"
#include "ops/runtime/runtime.h"

namespace torch_webgpu::binding {
namespace {

void check_grid(const std::string& label, hal::Grid grid, uint32_t limit) {
  TORCH_CHECK_VALUE(
      grid.x <= limit && grid.y <= limit && grid.z <= limit, "webgpu: ", label,
      " needs (", grid.x, ", ", grid.y, ", ", grid.z,
      ") workgroups, the device allows ", limit,
      " per dimension; pass threads as a tuple of up to three numbers.");
}

}  // namespace

UserKernel::UserKernel(const std::string& label, const std::string& wgsl,
                       const std::string& entry_point,
                       const std::vector<bool>& writes, bool trusted,
                       bool subgroups)
    : writes_(writes), label_(label) {
  hal::ShaderSource source;
  source.label = label;
  source.wgsl = wgsl;
  source.entry_point = entry_point;
  source.has_params = false;
  source.trusted = trusted;
  source.subgroups = subgroups;
  for (const bool write : writes) {
    source.bindings.push_back(write ? hal::Access::ReadWrite
                                    : hal::Access::Read);
  }
  kernel_ = ops::device().compile_outside(source);
}

void UserKernel::launch(const std::vector<at::Tensor>& tensors,
                        hal::Grid grid) const {
  TORCH_CHECK_VALUE(tensors.size() == writes_.size(), "webgpu: ", label_,
                    " takes ", writes_.size(), " tensors, got ",
                    tensors.size());
  hal::Device& device = ops::device();
  const hal::Limits& limits = device.info().limits;
  check_grid(label_, grid, limits.max_workgroups_per_dimension);

  std::vector<hal::BufferBinding> bindings;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i];
    TORCH_CHECK_VALUE(
        tensor.device().type() == c10::kPrivateUse1 && tensor.is_contiguous(),
        "webgpu: ", label_, " takes contiguous webgpu tensors, but number ", i,
        " is not; call .to('webgpu').contiguous() first.");
    const uint64_t offset =
        static_cast<uint64_t>(tensor.storage_offset()) * tensor.element_size();
    TORCH_CHECK_VALUE(
        offset % limits.storage_offset_alignment == 0, "webgpu: ", label_,
        ": tensor number ", i, " is a view that starts at byte ", offset,
        " of its storage, which is no multiple of ",
        limits.storage_offset_alignment, "; call .clone() first.");
    const uint64_t bytes = (tensor.nbytes() + 3) / 4 * 4;
    TORCH_CHECK_VALUE(bytes <= limits.max_storage_binding_size,
                      "webgpu: ", label_, ": tensor number ", i, " has ", bytes,
                      " bytes, the device binds at most ",
                      limits.max_storage_binding_size, "; split it.");
    bindings.push_back(
        {ops::buffer_of(tensor), offset, std::max<uint64_t>(bytes, 4)});
  }
  for (size_t i = 0; i < bindings.size(); ++i) {
    for (size_t j = i + 1; j < bindings.size(); ++j) {
      TORCH_CHECK_VALUE(
          bindings[i].buffer != bindings[j].buffer ||
              !(writes_[i] || writes_[j]),
          "webgpu: ", label_, ": tensors number ", i, " and ", j,
          " share memory and one of them is written; pass a .clone().");
    }
  }
  device.stream().dispatch(*kernel_, bindings, {}, grid);
}

}  // namespace torch_webgpu::binding
