#include "ops/runtime/outputs.h"

#include <ATen/native/Resize.h>

namespace torch_webgpu::ops {
namespace {

thread_local const c10::TensorImpl* kept = nullptr;

}  // namespace

KeepsSize::KeepsSize(const c10::TensorImpl* out) : before_(kept) {
  kept = out;
}

KeepsSize::~KeepsSize() {
  kept = before_;
}

void resize_out(const at::Tensor& out, at::IntArrayRef shape) {
  if (out.sizes() == shape) return;
  TORCH_CHECK(out.unsafeGetTensorImpl() != kept, "output with shape ",
              out.sizes(), " doesn't match the broadcast shape ", shape);
  at::native::resize_output(out, shape);
}

}  // namespace torch_webgpu::ops
