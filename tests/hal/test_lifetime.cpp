#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

TEST(Lifetime, DestroyedRightAfterCreation) {
  for (int i = 0; i < 3; ++i)
    Device::create(options());
}

TEST(Lifetime, DestroyedWithAnOpenWindowAndLiveBuffers) {
  const auto device = Device::create(options());
  for (int i = 0; i < 10; ++i) {
    run_affine(*device, device->pool().allocate(1024), {64, 1.0f, 1.0f});
  }
  device->pool().free(device->pool().allocate(4096));
}

TEST(Lifetime, DestroyedWithWorkInFlight) {
  const auto device = Device::create(options());
  Buffer* data = device->pool().allocate(4 << 20);
  for (int i = 0; i < 100; ++i) {
    run_affine(*device, data, {1 << 20, 1.0f, 1.0f});
  }
  device->stream().flush();
}

TEST(Lifetime, DestroyedWithAStoredError) {
  const auto device = Device::create(options());
  device->inject_error_for_testing("nobody asked");
}

TEST(Lifetime, DestroyedAfterLossWithAnOpenWindow) {
  const auto device = Device::create(options());
  run_affine(*device, device->pool().allocate(1024), {64, 1.0f, 1.0f});
  device->lose_for_testing();
}

TEST(Lifetime, DestroyedWhileProfiling) {
  const auto device = Device::create(options());
  if (!device->info().timestamps) {
    GTEST_SKIP() << "the adapter has no timestamp queries";
  }
  device->stream().set_profiling(true);
  run_affine(*device, device->pool().allocate(1024), {64, 1.0f, 1.0f});
}

TEST(Lifetime, TwoDevicesInAnyOrder) {
  auto first = Device::create(options());
  auto second = Device::create(options());
  const Scoped data(*second, std::vector<float>(64, 1.0f));
  run_affine(*first, first->pool().allocate(256), {64, 1.0f, 1.0f});
  run_affine(*second, data, {64, 3.0f, 0.0f});
  first.reset();
  EXPECT_EQ(data.read(1)[0], 3.0f);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
