#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <torch/library.h>

#include "hal/stream.h"
#include "ops/runtime/runtime.h"

namespace torch_webgpu::binding {
namespace {

// A readback: waits for all work before it.
at::Scalar local_scalar(const at::Tensor& self) {
  TORCH_CHECK(
      self.numel() == 1,
      "webgpu: only a tensor of one element becomes a number, got shape ",
      self.sizes());
  const at::Tensor host = at::detail::empty_cpu({}, self.scalar_type());
  const uint64_t bytes = self.element_size();
  ops::as_torch([&] {
    ops::device().stream().read(ops::buffer_of(self),
                                uint64_t(self.storage_offset()) * bytes,
                                host.mutable_data_ptr(), bytes);
  });
  return at::_local_scalar_dense(host);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_local_scalar_dense", TORCH_FN(local_scalar));
}

}  // namespace torch_webgpu::binding
