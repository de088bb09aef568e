#include <ATen/detail/PrivateUse1HooksInterface.h>

#include <algorithm>

#include "hal/stream.h"
#include "ops/random/generator.h"
#include "ops/runtime/runtime.h"
#include "torch_binding/availability.h"
#include "torch_binding/host_allocator.h"

namespace torch_webgpu::binding {
namespace {

void check_index(c10::DeviceIndex index) {
  TORCH_CHECK(index <= 0, "webgpu: there is one device, webgpu:0, got index ",
              static_cast<int>(index));
}

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }

  bool isAvailable() const override { return available(); }

  void init() const override { ops::device(); }

  bool hasPrimaryContext(c10::DeviceIndex) const override {
    return ops::device_created();
  }

  c10::DeviceIndex deviceCount() const override { return available() ? 1 : 0; }

  void setCurrentDevice(c10::DeviceIndex index) const override {
    check_index(index);
  }

  c10::DeviceIndex getCurrentDevice() const override { return 0; }

  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    check_index(index);
    return 0;
  }

  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override {
    return 0;
  }

  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }

  c10::Allocator* getPinnedMemoryAllocator() const override {
    return host_allocator();
  }

  c10::Device getDeviceFromPtr(void* data) const override {
    TORCH_CHECK(ops::device_created() && ops::device().pool().find(data),
                "webgpu: the pointer belongs to no webgpu tensor");
    return {c10::kPrivateUse1, 0};
  }

  const at::Generator& getDefaultGenerator(
      c10::DeviceIndex index) const override {
    check_index(index);
    return ops::default_generator();
  }

  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    check_index(index);
    return at::make_generator<ops::GeneratorImpl>();
  }

  void resizePrivateUse1Bytes(const c10::Storage& storage,
                              size_t bytes) const override {
    TORCH_CHECK(storage.resizable(),
                "Trying to resize storage that is not "
                "resizable");
    c10::DataPtr data = ops::allocate_storage(bytes);
    const size_t kept = std::min(storage.nbytes(), bytes);
    if (kept > 0) {
      auto* target = static_cast<hal::Buffer*>(data.get_context());
      ops::as_torch([&] {
        ops::device().stream().copy(ops::buffer_of(storage), 0, target, 0,
                                    (kept + 3) / 4 * 4);
      });
    }
    storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(data));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
};

[[maybe_unused]] const bool registered = [] {
  // Leaked, as torch keeps the pointer for the life of the process.
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

}  // namespace
}  // namespace torch_webgpu::binding
