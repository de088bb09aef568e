#pragma once

#include <ATen/core/TensorBase.h>
#include <c10/core/Allocator.h>

#include <functional>
#include <utility>

#include "hal/buffer_pool.h"
#include "hal/device.h"
#include "hal/errors.h"

// The process's one device, as the operators see it.
namespace torch_webgpu::ops {

// Created on first use, from any thread, with the options that the binding
// supplies; leaked on purpose, so that no destructor runs at exit while
// tensors are still alive. Throws RuntimeError if there is no usable driver,
// and in a child forked after the device was created.
hal::Device& device();

bool device_created();

// True in a child forked after the device was created: a GPU device does not
// survive fork(), so device() throws there and buffers are abandoned.
bool in_bad_fork();

// Called once at import. The callback runs on the first use of the device,
// outside of any lock, so it may take the interpreter's lock.
void set_device_options(std::function<hal::DeviceOptions()> options);
// What device() would be created from; throws what the callback throws.
hal::DeviceOptions device_options();

// The buffer behind a webgpu tensor's storage. An empty storage may have no
// buffer of its own; it answers with a shared one of 4 bytes. Raises
// RuntimeError for a tensor on another device.
hal::Buffer* buffer_of(const at::TensorBase& tensor);
hal::Buffer* buffer_of(const c10::Storage& storage);

// A storage's memory: data is the buffer's reserved address, the context is
// the hal::Buffer, the deleter gives it back to the pool. Raises
// torch.OutOfMemoryError when the pool is exhausted.
c10::DataPtr allocate_storage(size_t bytes);

// The deleter of allocate_storage's pointers.
void free_storage(void* buffer) noexcept;

// Turns the HAL's exception that is being handled into PyTorch's type for it:
// torch.OutOfMemoryError for memory, that of raise_fault() for what kernels
// report, RuntimeError for the rest.
[[noreturn]] void rethrow_as_torch();

// Runs `work`; what the HAL throws leaves as PyTorch's types.
template <class Work>
decltype(auto) as_torch(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const hal::Error&) {
    rethrow_as_torch();
  }
}

}  // namespace torch_webgpu::ops
