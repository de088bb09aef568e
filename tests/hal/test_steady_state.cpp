#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

// The allocation pattern of a training step: temporaries come and go, a few
// values are read.
void step(Device& device, Buffer* weights) {
  const Scoped a(device, 4096), b(device, 4096), c(device, 4096);
  run_affine(device, a, {1024, 0.0f, 1.0f});
  run_affine(device, b, {1024, 0.0f, 2.0f});
  run_add(device, a, b, c, 1024);
  device.stream().copy(c, 0, weights, 0, 4096);
  float value = 0;
  device.stream().read(weights, 0, &value, 4);
  EXPECT_EQ(value, 3.0f);
}

TEST(SteadyState, MakesNoObject) {
  const auto device = Device::create(options());
  const Scoped weights(*device, 4096);
  for (int i = 0; i < 5; ++i)
    step(*device, weights);
  const Stats before = device->stats();
  const uint64_t reserved = device->pool().stats().reserved;
  for (int i = 0; i < 50; ++i)
    step(*device, weights);
  const Stats after = device->stats();
  EXPECT_EQ(after.buffers_created, before.buffers_created);
  EXPECT_EQ(after.bind_groups_created, before.bind_groups_created);
  EXPECT_EQ(after.pipelines_created, before.pipelines_created);
  EXPECT_EQ(after.shader_modules_created, before.shader_modules_created);
  EXPECT_EQ(after.dispatches - before.dispatches, 150u);
  EXPECT_EQ(device->pool().stats().reserved, reserved);
}

// Far more combinations than the cache keeps: old ones make room.
TEST(SteadyState, BindGroupsThatNeverRepeatAreBounded) {
  const auto device = Device::create(options());
  constexpr uint64_t kGroups = 20'000;
  const uint64_t step = device->info().limits.storage_offset_alignment;
  const Scoped data(*device, kGroups * step + 256);
  const Kernel& kernel = device->compile(affine_shader());
  device->stream().clear(data, 0, data->size());
  for (uint64_t i = 0; i < kGroups; ++i) {
    const BufferBinding bindings[] = {{data, i * step, 256}};
    device->stream().dispatch(kernel, bindings, bytes_of(Affine{1, 1.0f, 1.0f}),
                              {});
  }
  EXPECT_GE(device->stats().bind_groups_created, kGroups);
  EXPECT_EQ(data.read(1, 0)[0], 1.0f);
  EXPECT_EQ(data.read(1, (kGroups - 1) * step)[0], 1.0f);
}

TEST(SteadyState, ManySmallWritesAreSubmittedNowAndThen) {
  Device& device = shared_device();
  const Scoped data(device, 256);
  device.stream().synchronize();
  const uint64_t before = device.stats().submits;
  for (uint32_t i = 0; i < 3000; ++i)
    device.stream().write(data, 0, &i, 4);
  EXPECT_GE(device.stats().submits, before + 2);
  EXPECT_EQ(data.read<uint32_t>(1)[0], 2999u);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
