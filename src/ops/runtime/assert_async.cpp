#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <string_view>

namespace torch_webgpu::ops {
namespace {

// Waits for the tensor, as the CPU's operator does: the error is then raised by
// the call that it belongs to.
void assert_async_msg(const at::Tensor& self, std::string_view message) {
  TORCH_CHECK(self.item().toBool(), message);
}

void assert_async(const at::Tensor& self) {
  assert_async_msg(self, "Expected Tensor with single nonzero value");
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_assert_async", &assert_async);
  m.impl("_assert_async.msg", &assert_async_msg);
}

}  // namespace torch_webgpu::ops
