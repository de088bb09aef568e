#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/Allocator.h>
#include <torch/library.h>

namespace torch_webgpu::binding {
namespace {

void check_options(std::optional<at::Layout> layout,
                   std::optional<at::Device> device,
                   std::optional<bool> pin_memory) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      layout.value_or(at::kStrided) == at::kStrided,
      "webgpu: only strided tensors are supported, got layout ", *layout,
      "; keep this tensor on the CPU.");
  TORCH_CHECK(!pin_memory.value_or(false),
              "webgpu: only CPU tensors can be pinned; leave pin_memory out.");
  TORCH_CHECK(!device || device->index() <= 0,
              "webgpu: there is one device, webgpu:0, got ", *device,
              "; choose its adapter with TORCH_WEBGPU_ADAPTER.");
}

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

// torch.utils.deterministic.fill_uninitialized_memory, asked only when
// torch.use_deterministic_algorithms() is on.
at::Tensor filled_if_asked(at::Tensor tensor) {
  if (at::globalContext().deterministicAlgorithms() &&
      at::globalContext().deterministicFillUninitializedMemory()) {
    at::native::fill_empty_deterministic_(tensor);
  }
  return tensor;
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout> layout,
                 std::optional<at::Device> device,
                 std::optional<bool> pin_memory,
                 std::optional<at::MemoryFormat> memory_format) {
  check_options(layout, device, pin_memory);
  return filled_if_asked(at::detail::empty_generic(
      size, c10::GetAllocator(c10::kPrivateUse1), kKeys,
      c10::dtype_or_default(dtype), memory_format));
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout> layout,
                         std::optional<at::Device> device,
                         std::optional<bool> pin_memory) {
  check_options(layout, device, pin_memory);
  return filled_if_asked(at::detail::empty_strided_generic(
      size, stride, c10::GetAllocator(c10::kPrivateUse1), kKeys,
      c10::dtype_or_default(dtype)));
}

// Zeros without memory, which some gradients are (sgn's, for example).
at::Tensor zeros_without_memory(at::IntArrayRef size,
                                std::optional<at::ScalarType> dtype,
                                std::optional<at::Layout> layout,
                                std::optional<at::Device> device,
                                std::optional<bool> pin_memory) {
  check_options(layout, device, pin_memory);
  at::native::ZeroTensorAllocator allocator(c10::Device(c10::kPrivateUse1, 0));
  return at::detail::empty_generic(
      size, &allocator,
      kKeys | c10::DispatchKeySet(c10::DispatchKey::ZeroTensor),
      c10::dtype_or_default(dtype), std::nullopt);
}

// nn.TransformerEncoder asks this before it packs a padded batch into a nested
// tensor, a layout that the device does not have: "no" lets it go on as it is.
bool can_be_nested(const at::Tensor&, const at::Tensor&) {
  return false;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_nested_tensor_from_mask_left_aligned", TORCH_FN(can_be_nested));
  m.impl("_efficientzerotensor", TORCH_FN(zeros_without_memory));
  m.impl("empty.memory_format", TORCH_FN(empty));
  m.impl("empty_strided", TORCH_FN(empty_strided));
}

}  // namespace torch_webgpu::binding
