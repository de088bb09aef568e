// copy_ in every direction: between webgpu tensors, from and to the host, and
// any other device by way of the host.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/view_as_real.h>
#include <torch/library.h>

#include <cstring>
#include <vector>

#include "hal/stream.h"
#include "ops/kernel/launch.h"
#include "ops/pointwise/pointwise.h"
#include "ops/runtime/fallback.h"
#include "ops/runtime/runtime.h"

namespace torch_webgpu::ops {
namespace {

bool on_device(const at::Tensor& tensor) {
  return tensor.device().is_privateuseone();
}

// The same bytes with a dtype that kernels know, for copies that do not
// convert.
at::Tensor as_bits(const at::Tensor& tensor) {
  switch (tensor.element_size()) {
    case 1:
      return tensor.view(at::kByte);
    case 2:
      return tensor.view(at::kShort);
    case 4:
      return tensor.view(at::kInt);
    case 8:
      return tensor.view(at::kLong);
    default:
      TORCH_INTERNAL_ASSERT(tensor.scalar_type() == at::kComplexDouble);
      return at::view_as_real(tensor).view(at::kLong);
  }
}

bool same_flags(const at::Tensor& a, const at::Tensor& b) {
  return a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

// Reads a tensor that is dense in memory into host memory of the same layout.
void read_dense(const at::Tensor& source, void* destination) {
  const auto size = uint64_t(source.element_size());
  as_torch([&] {
    device().stream().read(buffer_of(source),
                           uint64_t(source.storage_offset()) * size,
                           destination, uint64_t(source.numel()) * size);
  });
}

// True when the words that the tensor touches hold nothing else.
bool owns_words(const at::Tensor& tensor) {
  const auto size = uint64_t(tensor.element_size());
  const uint64_t begin = uint64_t(tensor.storage_offset()) * size;
  const uint64_t end = begin + uint64_t(tensor.numel()) * size;
  return begin % 4 == 0 && (end % 4 == 0 || end == tensor.storage().nbytes());
}

// Writes host memory of the same layout to a tensor that is dense in memory
// and owns its words.
void write_dense(const void* source, const at::Tensor& destination) {
  const auto size = uint64_t(destination.element_size());
  const uint64_t offset = uint64_t(destination.storage_offset()) * size;
  const uint64_t bytes = uint64_t(destination.numel()) * size;
  auto& stream = device().stream();
  hal::Buffer* buffer = buffer_of(destination);
  const uint64_t whole = bytes / 4 * 4;
  if (whole > 0) {
    as_torch([&] { stream.write(buffer, offset, source, whole); });
  }
  if (whole < bytes) {
    uint32_t last = 0;
    std::memcpy(&last, static_cast<const char*>(source) + whole, bytes - whole);
    as_torch([&] { stream.write(buffer, offset + whole, &last, sizeof last); });
  }
}

// The same memory, read without conjugation and negation.
at::Tensor without_flags(const at::Tensor& self) {
  at::Tensor bare = self.detach();
  bare._set_conj(false);
  bare._set_neg(false);
  return bare;
}

void copy_to_host(const at::Tensor& self, const at::Tensor& dst) {
  const at::Tensor bare = without_flags(self);
  const at::Tensor dense =
      bare.is_non_overlapping_and_dense() ? bare : bare.contiguous();
  const bool direct = dst.scalar_type() == dense.scalar_type() &&
                      dst.sizes() == dense.sizes() &&
                      dst.strides() == dense.strides() && same_flags(self, dst);
  const at::Tensor host =
      direct ? dst
             : at::empty_strided(dense.sizes(), dense.strides(),
                                 dense.options().device(at::kCPU));
  if (host.numel() > 0) read_dense(dense, host.mutable_data_ptr());
  if (!direct) {
    host._set_conj(self.is_conj());
    host._set_neg(self.is_neg());
    dst.copy_(host);
  }
}

void copy_on_device(const at::Tensor& self, const at::Tensor& dst) {
  if (same_flags(self, dst)) {
    if (self.scalar_type() == dst.scalar_type()) {
      const at::Tensor source = without_flags(self);
      const at::Tensor target = without_flags(dst);
      const bool known = wgsl::has_dtype(self.scalar_type());
      copy_elements(known ? source : as_bits(source.expand(dst.sizes())),
                    known ? target : as_bits(target));
      return;
    }
    if (!self.is_conj() && !self.is_neg() &&
        wgsl::has_dtype(self.scalar_type()) &&
        wgsl::has_dtype(dst.scalar_type())) {
      copy_elements(self, dst);
      return;
    }
  }
  // Casts from and to float64 and complex, and resolving conjugation, are
  // arithmetic that only the CPU has.
  note_fallback("aten::_copy_from");
  // Flags off first: cpu() would resolve them by a copy, which ends here again.
  const at::Tensor host = without_flags(self).cpu();
  host._set_conj(self.is_conj());
  host._set_neg(self.is_neg());
  dst.copy_(host);
}

void copy_from_host(const at::Tensor& self, const at::Tensor& dst) {
  if (dst.is_non_overlapping_and_dense() && owns_words(dst)) {
    at::Tensor host = self;
    if (host.scalar_type() != dst.scalar_type() ||
        host.sizes() != dst.sizes() || host.strides() != dst.strides() ||
        !same_flags(self, dst)) {
      host = at::empty_strided(dst.sizes(), dst.strides(),
                               dst.options().device(at::kCPU));
      host._set_conj(dst.is_conj());
      host._set_neg(dst.is_neg());
      host.copy_(self);
    }
    write_dense(host.const_data_ptr(), dst);
    return;
  }
  // With the target's flags, so that only bytes are left to copy.
  const at::Tensor staged = at::empty(self.sizes(), dst.options());
  staged._set_conj(dst.is_conj());
  staged._set_neg(dst.is_neg());
  copy_from_host(self, staged);
  copy_on_device(staged, dst);
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst,
                     bool /*non_blocking*/) {
  if (dst.numel() == 0) {
    self.expand(dst.sizes());  // only its check of the shapes
    return dst;
  }
  if (on_device(self) && on_device(dst)) {
    if (!self.is_same(dst)) copy_on_device(self, dst);
  } else if (on_device(self)) {
    const bool host = dst.device().is_cpu();
    const at::Tensor source =
        self.sizes() == dst.sizes() ? self : self.expand(dst.sizes());
    if (host) {
      copy_to_host(source, dst);
    } else {
      dst.copy_(source.cpu());
    }
  } else {
    const at::Tensor host = self.device().is_cpu() ? self : self.cpu();
    copy_from_host(host, dst);
  }
  return dst;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  dst.resize_(self.sizes());
  return copy_from(self, dst, false);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
}

}  // namespace torch_webgpu::ops
