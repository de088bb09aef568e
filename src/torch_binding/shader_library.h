#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "hal/kernel.h"
#include "hal/stream.h"

namespace torch_webgpu::binding {

// One kernel of WGSL from outside. Bounds-checked unless `trusted`, which is
// for benchmarks that compare with the library's own kernels.
class UserKernel {
 public:
  UserKernel(const std::string& label, const std::string& wgsl,
             const std::string& entry_point, const std::vector<bool>& writes,
             bool trusted, bool subgroups);

  // Binds the tensors in order. They are contiguous webgpu tensors; a tensor
  // that is written shares its buffer with no other.
  void launch(const std::vector<at::Tensor>& tensors, hal::Grid grid) const;

 private:
  std::shared_ptr<const hal::Kernel> kernel_;
  std::vector<bool> writes_;
  std::string label_;
};

}  // namespace torch_webgpu::binding
