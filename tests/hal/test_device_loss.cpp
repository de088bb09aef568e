#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

TEST(DeviceLoss, EveryCallThrowsAndNothingCrashes) {
  const auto device = Device::create(options());
  const Kernel& kernel = device->compile(affine_shader());
  Buffer* buffer = device->pool().allocate(256);
  Buffer* other = device->pool().allocate(256);
  Stream& stream = device->stream();
  run_affine(*device, buffer, {64, 1.0f, 1.0f});  // leaves a window open
  const uint64_t serial = stream.record();
  device->lose_for_testing();

  const BufferBinding bindings[] = {{buffer}};
  std::vector<float> host(64);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THROW(
        stream.dispatch(kernel, bindings, bytes_of(Affine{64, 1.0f, 1.0f}), {}),
        DeviceLost);
    EXPECT_THROW(stream.copy(buffer, 0, other, 0, 4), DeviceLost);
    EXPECT_THROW(stream.clear(buffer, 0, 4), DeviceLost);
    EXPECT_THROW(stream.write(buffer, 0, host.data(), 4), DeviceLost);
    EXPECT_THROW(stream.read(buffer, 0, host.data(), 4), DeviceLost);
    EXPECT_THROW(stream.flush(), DeviceLost);
    EXPECT_THROW(stream.record(), DeviceLost);
    EXPECT_THROW(stream.done(serial), DeviceLost);
    EXPECT_THROW(stream.wait(serial), DeviceLost);
    EXPECT_THROW(stream.synchronize(), DeviceLost);
    EXPECT_THROW(stream.set_window(8), DeviceLost);
    EXPECT_THROW(stream.take_timings(), DeviceLost);
    EXPECT_THROW(device->compile(add_shader()), DeviceLost);
    EXPECT_THROW(device->pool().allocate(4), DeviceLost);
    EXPECT_THROW(device->pool().empty_cache(), DeviceLost);
    EXPECT_THROW(device->throw_pending_errors(), DeviceLost);
  }
  device->pool().free(buffer);
  device->pool().free(other);
  EXPECT_EQ(device->pool().stats().active_blocks, 0u);
  EXPECT_GT(device->stats().dispatches, 0u);
}

TEST(DeviceLoss, ReasonIsPartOfTheMessage) {
  const auto device = Device::create(options());
  device->lose_for_testing();
  const auto text =
      message_of<DeviceLost>([&] { device->stream().synchronize(); });
  EXPECT_TRUE(contains(text, "destroyed")) << text;
  EXPECT_TRUE(contains(text, "restart")) << text;
}

TEST(DeviceLoss, WithWorkInFlight) {
  const auto device = Device::create(options());
  Buffer* data = device->pool().allocate(1 << 20);
  for (int i = 0; i < 200; ++i) {
    run_affine(*device, data, {1 << 18, 1.0f, 1.0f});
  }
  device->stream().flush();
  device->lose_for_testing();
  EXPECT_THROW(device->stream().synchronize(), DeviceLost);
}

// The first call after a loss that nobody has reported yet finds it out.
template <typename Call>
void expect_found_out(Call call) {
  const auto device = Device::create(options());
  const Kernel& kernel = device->compile(affine_shader());
  Buffer* buffer = device->pool().allocate(256);
  device->stream().synchronize();
  device->lose_for_testing(/*tell=*/false);
  EXPECT_THROW(call(*device, kernel, buffer), DeviceLost);
  EXPECT_THROW(device->stream().synchronize(), DeviceLost);
}

TEST(DeviceLoss, UntoldIsFoundOutByADispatch) {
  expect_found_out([](Device& device, const Kernel& kernel, Buffer* buffer) {
    const BufferBinding bindings[] = {{buffer}};
    device.stream().dispatch(kernel, bindings, bytes_of(Affine{64, 1, 1}), {});
    device.stream().synchronize();
  });
}

TEST(DeviceLoss, UntoldIsFoundOutByAWrite) {
  expect_found_out([](Device& device, const Kernel&, Buffer* buffer) {
    const float value = 1.0f;
    device.stream().write(buffer, 0, &value, 4);
    device.stream().synchronize();
  });
}

TEST(DeviceLoss, UntoldIsFoundOutByARead) {
  expect_found_out([](Device& device, const Kernel&, Buffer* buffer) {
    float value = 0.0f;
    device.stream().read(buffer, 0, &value, 4);
  });
}

TEST(DeviceLoss, UntoldIsFoundOutByAnAllocation) {
  expect_found_out([](Device& device, const Kernel&, Buffer*) {
    device.pool().allocate(1 << 20);
  });
}

TEST(DeviceLoss, UntoldIsFoundOutByACompilation) {
  expect_found_out([](Device& device, const Kernel&, Buffer*) {
    device.compile(add_shader());
  });
}

TEST(DeviceLoss, AnotherDeviceIsNotHarmed) {
  const auto lost = Device::create(options());
  lost->lose_for_testing();
  Device& device = shared_device();
  const Scoped data(device, std::vector<float>(64, 1.0f));
  run_affine(device, data, {64, 2.0f, 0.0f});
  EXPECT_EQ(data.read(1)[0], 2.0f);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
