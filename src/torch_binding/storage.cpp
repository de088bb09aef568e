#include <ATen/core/Tensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/set_native.h>
#include <c10/core/Allocator.h>
#include <c10/util/accumulate.h>
#include <torch/library.h>

namespace torch_webgpu::binding {
namespace {

// Gives the tensor the sizes and (optional) strides and grows its storage
// where it is too small for them; a storage never shrinks. Without the memory
// for it the tensor stays as it was.
void resize_impl(at::TensorImpl* self, at::IntArrayRef size,
                 at::OptionalIntArrayRef stride) {
  if (self->sizes() == size && (!stride || self->strides() == *stride)) {
    return;
  }
  const size_t itemsize = self->dtype().itemsize();
  const auto offset = static_cast<size_t>(self->storage_offset());
  const size_t bytes =
      stride
          ? at::detail::computeStorageNbytes(size, *stride, itemsize, offset)
          : at::detail::computeStorageNbytesContiguous(size, itemsize, offset);
  const c10::Storage& storage = self->unsafe_storage();
  if (c10::multiply_integers(size) > 0 && bytes > storage.nbytes()) {
    at::detail::getPrivateUse1Hooks().resizePrivateUse1Bytes(storage, bytes);
  }
  if (stride) {
    self->set_sizes_and_strides(size, *stride);
  } else {
    self->set_sizes_contiguous(size);
  }
}

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size,
                          std::optional<at::MemoryFormat> memory_format) {
  at::detail::check_size_nonnegative(size);
  resize_impl(self.unsafeGetTensorImpl(), size, std::nullopt);
  if (memory_format) {
    TORCH_CHECK(*memory_format != at::MemoryFormat::Preserve,
                "Unsupported memory format ", *memory_format);
    self.unsafeGetTensorImpl()->empty_tensor_restride(*memory_format);
  }
  return self;
}

at::Tensor& set_storage_and_offset(at::Tensor& self, at::Storage source,
                                   int64_t offset, at::IntArrayRef size,
                                   at::IntArrayRef stride) {
  at::native::checkSetStorage(self, source, offset, size, stride);
  self.unsafeGetTensorImpl()->set_storage_offset(offset);
  resize_impl(self.unsafeGetTensorImpl(), size,
              stride.data() ? at::OptionalIntArrayRef(stride) : std::nullopt);
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source) {
  const auto count =
      static_cast<int64_t>(source.nbytes() / self.dtype().itemsize());
  return set_storage_and_offset(self, std::move(source), 0, {count}, {});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  if (self.unsafeGetTensorImpl() != source.unsafeGetTensorImpl()) {
    set_storage_and_offset(self, source.storage(), source.storage_offset(),
                           source.sizes(), source.strides());
  }
  return self;
}

at::Tensor& set_empty(at::Tensor& self) {
  at::Storage storage(at::Storage::use_byte_size_t(), 0,
                      c10::GetAllocator(c10::kPrivateUse1),
                      /*resizable=*/true);
  return set_storage_and_offset(self, std::move(storage), 0, {0}, {});
}

// The one stream runs in order, so reuse of the memory is always safe.
void record_stream(at::Tensor&, at::Stream) {}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("record_stream", TORCH_FN(record_stream));
  m.impl("resize_", TORCH_FN(resize_));
  m.impl("set_", TORCH_FN(set_empty));
  m.impl("set_.source_Storage", TORCH_FN(set_storage));
  m.impl("set_.source_Storage_storage_offset",
         TORCH_FN(set_storage_and_offset));
  m.impl("set_.source_Tensor", TORCH_FN(set_tensor));
}

}  // namespace torch_webgpu::binding
