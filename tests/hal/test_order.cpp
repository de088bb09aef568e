#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

void write_all(Device& device, Buffer* buffer, float value) {
  const std::vector<float> values(64, value);
  device.stream().write(buffer, 0, values.data(), 256);
}

TEST(Order, WriteAfterDispatchDoesNotOvertakeIt) {
  Device& device = shared_device();
  const Scoped in(device, std::vector<float>(64, 1.0f));
  const Scoped zero(device, std::vector<float>(64, 0.0f));
  const Scoped first(device, 256), second(device, 256);
  run_add(device, in, zero, first, 64);
  write_all(device, in, 5.0f);
  run_add(device, in, zero, second, 64);
  EXPECT_EQ(first.read(1)[0], 1.0f);
  EXPECT_EQ(second.read(1)[0], 5.0f);
}

TEST(Order, WriteToAnUntouchedBufferDoesNotSubmit) {
  Device& device = shared_device();
  const Scoped used(device, 256), other(device, 256);
  device.stream().synchronize();
  const uint64_t before = device.stats().submits;
  run_affine(device, used, {64, 1.0f, 1.0f});
  write_all(device, other, 1.0f);
  EXPECT_EQ(device.stats().submits, before);
  write_all(device, used, 1.0f);
  EXPECT_EQ(device.stats().submits, before + 1);
}

TEST(Order, WriteToAReusedBufferDoesNotOvertakeItsOldUse) {
  Device& device = shared_device();
  const Scoped zero(device, std::vector<float>(64, 0.0f)), out(device, 256);
  device.stream().synchronize();
  Buffer* old = device.pool().allocate(123456);
  write_all(device, old, 2.0f);
  run_add(device, old, zero, out, 64);
  device.pool().free(old);
  Buffer* reused = device.pool().allocate(123456);
  ASSERT_EQ(reused, old);
  write_all(device, reused, 9.0f);
  EXPECT_EQ(out.read(1)[0], 2.0f);
  device.pool().free(reused);
}

TEST(Order, DependentDispatchesRunInOrder) {
  Device& device = shared_device();
  const Scoped data(device, std::vector<float>(64, 0.0f));
  float expected = 0.0f;
  for (int i = 0; i < 200; ++i) {
    const float offset = static_cast<float>(i % 7);
    run_affine(device, data, {64, 0.5f, offset});
    expected = expected * 0.5f + offset;
  }
  EXPECT_NEAR(data.read(1)[0], expected, 1e-4f);
}

TEST(Order, CopiesAndClearsAreInOrderWithDispatches) {
  Device& device = shared_device();
  const Scoped data(device, std::vector<float>(64, 1.0f));
  const Scoped kept(device, 256);
  run_affine(device, data, {64, 1.0f, 1.0f});
  device.stream().copy(data, 0, kept, 0, 256);
  device.stream().clear(data, 0, 128);
  run_affine(device, data, {64, 1.0f, 3.0f});
  EXPECT_EQ(kept.read(1)[0], 2.0f);
  EXPECT_EQ(data.read(1)[0], 3.0f);
  EXPECT_EQ(data.read(64)[63], 5.0f);
}

TEST(Order, SerialsTellWhatIsDone) {
  Device& device = shared_device();
  Stream& stream = device.stream();
  stream.synchronize();
  const Scoped data(device, 256);
  const uint64_t before = stream.record();
  EXPECT_TRUE(stream.done(before));
  run_affine(device, data, {64, 1.0f, 1.0f});
  const uint64_t after = stream.record();
  EXPECT_GT(after, before);
  stream.wait(after);
  EXPECT_TRUE(stream.done(after));
  // A serial from the future means no more than what exists.
  stream.wait(after + 1000);
}

TEST(Order, DoneSubmitsTheOpenWindow) {
  Device& device = shared_device();
  const Scoped data(device, 256);
  run_affine(device, data, {64, 1.0f, 1.0f});
  const uint64_t serial = device.stream().record();
  int turns = 0;
  while (!device.stream().done(serial))
    ASSERT_LT(++turns, 100'000'000);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
