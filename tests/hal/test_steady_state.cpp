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
  for (int i = 0; i < 5; ++i) step(*device, weights);
  const Stats before = device->stats();
  const uint64_t reserved = device->pool().stats().reserved;
  for (int i = 0; i < 50; ++i) step(*device, weights);
  const Stats after = device->stats();
  EXPECT_EQ(after.buffers_created, before.buffers_created);
  EXPECT_EQ(after.bind_groups_created, before.bind_groups_created);
  EXPECT_EQ(after.pipelines_created, before.pipelines_created);
  EXPECT_EQ(after.shader_modules_created, before.shader_modules_created);
  EXPECT_EQ(after.dispatches - before.dispatches, 150u);
  EXPECT_EQ(device->pool().stats().reserved, reserved);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
