#include "ops/runtime/runtime.h"

#include <c10/util/Exception.h>
#include <pthread.h>

#include <atomic>
#include <limits>
#include <memory>
#include <mutex>

#include "ops/runtime/faults.h"

namespace torch_webgpu::ops {
namespace {

struct State {
  std::mutex mutex;  // guards creation only
  std::function<hal::DeviceOptions()> options;
  std::atomic<hal::Device*> device{nullptr};
  std::atomic<hal::Buffer*> empty{nullptr};
  // Set when creation starts: from there on a fork copies driver threads'
  // locks, so the child cannot use the device.
  std::atomic<bool> touched{false};
  std::atomic<bool> forked{false};
};

// Leaked: used by deleters that run after static destructors.
State& state() {
  static State* state = new State;
  return *state;
}

void after_fork_in_child() {
  if (state().touched) {
    state().forked = true;
    state().device = nullptr;
  }
}

[[noreturn]] void throw_bad_fork() {
  TORCH_CHECK(
      false,
      "webgpu: the device cannot be used in a forked child process, because "
      "the parent had already used it before the fork; start the process with "
      "the 'spawn' method (torch.multiprocessing.set_start_method('spawn')).");
}

hal::Device& create_device() {
  if (state().forked) {
    throw_bad_fork();
  }
  // The callback may need the interpreter's lock, so it runs before ours is
  // taken: the order is always interpreter, then state.
  hal::DeviceOptions options = as_torch(device_options);
  std::lock_guard lock(state().mutex);
  if (hal::Device* device = state().device) {
    return *device;
  }
  if (!state().touched.exchange(true)) {
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
  }
  try {
    state().device = hal::Device::create(options).release();
  } catch (const hal::Error&) {
    rethrow_as_torch();
  }
  return *state().device;
}

// What kernels take for granted. A storage can be resized below what its
// tensors need, as sharded training does to free memory for a while; an
// expanded tensor can have more elements than 32 bits count.
void check_addressable(const at::TensorBase& tensor) {
  if (tensor.numel() == 0) return;
  TORCH_CHECK(tensor.numel() <= std::numeric_limits<uint32_t>::max(),
              "webgpu: kernels index up to 2^32 - 1 elements, got a tensor of "
              "shape ",
              tensor.sizes(), "; split it.");
  int64_t last = tensor.storage_offset();
  const at::IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  for (size_t i = 0; i < sizes.size(); ++i) {
    last += (sizes[i] - 1) * strides[i];
  }
  const uint64_t needed = uint64_t(last + 1) * tensor.element_size();
  TORCH_CHECK(needed <= tensor.storage().nbytes(), "webgpu: a tensor of shape ",
              sizes, " needs ", needed, " bytes, but its storage has only ",
              tensor.storage().nbytes(),
              "; give the storage back its size with "
              "untyped_storage().resize_() first.");
}

hal::Buffer* empty_buffer() {
  if (hal::Buffer* buffer = state().empty) {
    return buffer;
  }
  // Not under the lock: whoever waits in it gives up the interpreter's lock
  // and takes it back, which another thread may hold that waits for ours.
  hal::BufferPool& pool = device().pool();
  hal::Buffer* made = pool.allocate(4);
  hal::Buffer* first = nullptr;
  if (state().empty.compare_exchange_strong(first, made)) return made;
  pool.free(made);
  return first;
}

}  // namespace

hal::Device& device() {
  hal::Device* device = state().device.load(std::memory_order_acquire);
  return device ? *device : create_device();
}

bool device_created() {
  return state().device.load(std::memory_order_acquire) != nullptr;
}

bool in_bad_fork() {
  return state().forked;
}

void set_device_options(std::function<hal::DeviceOptions()> options) {
  state().options = std::move(options);
}

hal::DeviceOptions device_options() {
  TORCH_INTERNAL_ASSERT(state().options,
                        "the binding supplied no device options");
  return state().options();
}

hal::Buffer* buffer_of(const c10::Storage& storage) {
  const c10::DataPtr& data = storage.data_ptr();
  if (data.get_deleter() == &free_storage && data.get_context()) {
    return static_cast<hal::Buffer*>(data.get_context());
  }
  if (!data.get()) {
    return empty_buffer();
  }
  // Another owner wraps the pointer (a copy-on-write storage does).
  hal::Buffer* buffer = device().pool().find(data.get());
  TORCH_INTERNAL_ASSERT(buffer, "webgpu: the storage has no webgpu buffer");
  TORCH_CHECK_NOT_IMPLEMENTED(
      buffer->address() == data.get(),
      "webgpu: memory that starts inside of a tensor's buffer (a slice of a "
      "storage, or a view that came by DLPack) cannot be used; take the whole "
      "and make the view afterwards.");
  return buffer;
}

hal::Buffer* buffer_of(const at::TensorBase& tensor) {
  TORCH_CHECK(tensor.device().type() == c10::kPrivateUse1,
              "Expected all tensors to be on the same device, webgpu:0, but "
              "found one on ",
              tensor.device(), "; move it with .to('webgpu').");
  check_addressable(tensor);
  return buffer_of(tensor.storage());
}

c10::DataPtr allocate_storage(size_t bytes) {
  const c10::Device target(c10::kPrivateUse1, 0);
  if (bytes == 0) {
    return {nullptr, nullptr, &free_storage, target};
  }
  try {
    hal::Buffer* buffer = device().pool().allocate(bytes);
    return {buffer->address(), buffer, &free_storage, target};
  } catch (const hal::Error&) {
    rethrow_as_torch();
  }
}

void free_storage(void* buffer) noexcept {
  hal::Device* device = state().device.load(std::memory_order_acquire);
  if (buffer && device) {
    device->pool().free(static_cast<hal::Buffer*>(buffer));
  }
}

void rethrow_as_torch() {
  try {
    throw;
  } catch (const hal::OutOfMemory& error) {
    TORCH_CHECK_WITH(OutOfMemoryError, false, error.what());
  } catch (const hal::Fault& fault) {
    raise_fault(fault);
  } catch (const hal::Error& error) {
    TORCH_CHECK(false, error.what());
  }
}

}  // namespace torch_webgpu::ops
