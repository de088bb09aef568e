#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <chrono>

#include "hal/stream.h"
#include "ops/runtime/runtime.h"

namespace torch_webgpu::binding {
namespace {

constexpr c10::DeviceType kType = c10::kPrivateUse1;

void check_index(c10::DeviceIndex index) {
  TORCH_CHECK(index <= 0, "webgpu: there is one device, webgpu:0, got index ",
              static_cast<int>(index),
              "; choose its adapter with TORCH_WEBGPU_ADAPTER.");
}

// Behind torch.Event's opaque pointer; owned by the torch.Event.
struct Event {
  uint64_t serial = 0;
  std::optional<std::chrono::steady_clock::time_point> time;
};

Event* as_event(void* event) {
  return static_cast<Event*>(event);
}

// One device with one ordered stream, so every answer about "current" is a
// constant and nothing here needs a lock.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kType; }

  c10::Device exchangeDevice(c10::Device device) const override {
    check_index(device.index());
    return getDevice();
  }

  c10::Device getDevice() const override { return {kType, 0}; }

  void setDevice(c10::Device device) const override {
    check_index(device.index());
  }

  void uncheckedSetDevice(c10::Device) const noexcept override {}

  c10::Stream getStream(c10::Device) const override {
    return c10::Stream(c10::Stream::DEFAULT, getDevice());
  }

  c10::Stream getDefaultStream(c10::Device device) const override {
    return getStream(device);
  }

  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return getStream(device);
  }

  c10::Stream getNewStream(c10::Device device, int) const override {
    check_index(device.index());
    return getStream(device);
  }

  c10::Stream exchangeStream(c10::Stream stream) const override {
    return getStream(stream.device());
  }

  // Never looks for a driver: the autograd engine asks every backend at the
  // first backward pass, on CPU-only programs too.
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::DeviceCapability getDeviceCapability(c10::Device) const override {
    c10::DeviceCapability capability;
    capability.capability_data.capability_bits = 0;
    auto& types = capability.capability_data.supported_scalar_types;
    types.has_Byte = types.has_Char = types.has_Short = types.has_Int = 1;
    types.has_Long = types.has_Half = types.has_Float = types.has_Bool = 1;
    types.has_BFloat16 = 1;
    return capability;
  }

  bool queryStream(const c10::Stream&) const override {
    return ops::as_torch([] {
      hal::Stream& stream = ops::device().stream();
      return stream.done(stream.record());
    });
  }

  void synchronizeStream(const c10::Stream&) const override {
    synchronizeDevice(0);
  }

  void synchronizeDevice(const c10::DeviceIndex) const override {
    if (ops::device_created()) {
      ops::as_torch([] { ops::device().stream().synchronize(); });
    }
  }

  void destroyEvent(void* event,
                    const c10::DeviceIndex) const noexcept override {
    delete as_event(event);
  }

  void record(void** event, const c10::Stream&, const c10::DeviceIndex,
              const c10::EventFlag flag) const override {
    if (!*event) {
      *event = new Event;
    }
    ops::as_torch([&] {
      hal::Stream& stream = ops::device().stream();
      Event& recorded = *as_event(*event);
      recorded.serial = stream.record();
      recorded.time.reset();
      // WebGPU's timestamps belong to passes, not to points of the stream, so a
      // timing event waits for the work before it and reads the host's clock.
      if (flag == c10::EventFlag::BACKEND_DEFAULT) {
        stream.wait(recorded.serial);
        recorded.time = std::chrono::steady_clock::now();
      }
    });
  }

  // The one stream already runs in order.
  void block(void*, const c10::Stream&) const override {}

  bool queryEvent(void* event) const override {
    return !event || ops::as_torch([&] {
      return ops::device().stream().done(as_event(event)->serial);
    });
  }

  void synchronizeEvent(void* event) const override {
    if (event) {
      ops::as_torch(
          [&] { ops::device().stream().wait(as_event(event)->serial); });
    }
  }

  double elapsedTime(void* first, void* second,
                     const c10::DeviceIndex) const override {
    TORCH_CHECK(
        first && second && as_event(first)->time && as_event(second)->time,
        "webgpu: elapsed_time() needs two recorded events that were created "
        "with enable_timing=True.");
    return std::chrono::duration<double, std::milli>(*as_event(second)->time -
                                                     *as_event(first)->time)
        .count();
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

}  // namespace
}  // namespace torch_webgpu::binding
