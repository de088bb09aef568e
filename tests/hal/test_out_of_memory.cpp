#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::unique_ptr<Device> limited_device(uint64_t limit) {
  DeviceOptions limited = options();
  limited.memory_limit = limit;
  return Device::create(limited);
}

TEST(OutOfMemory, FourTebibytesAreRefusedWithFigures) {
  Device& device = shared_device();
  const auto text = message_of<OutOfMemory>(
      [&] { device.pool().allocate(uint64_t{4} << 40); });
  EXPECT_TRUE(contains(text, "4194304.00 MiB")) << text;
  EXPECT_TRUE(contains(text, "allocated")) << text;
  EXPECT_TRUE(contains(text, "reserved")) << text;
  EXPECT_TRUE(contains(text, "largest buffer")) << text;
  const Scoped data(device, std::vector<float>(64, 1.0f));
  run_affine(device, data, {64, 2.0f, 1.0f});
  EXPECT_EQ(data.read(1)[0], 3.0f);
}

TEST(OutOfMemory, EvenTheLargestRequestDoesNotOverflow) {
  EXPECT_THROW(shared_device().pool().allocate(UINT64_MAX), OutOfMemory);
}

TEST(OutOfMemory, LimitHoldsAndIsNamed) {
  const auto device = limited_device(4 * kMiB);
  BufferPool& pool = device->pool();
  EXPECT_EQ(pool.memory_limit(), 4 * kMiB);
  Buffer* first = pool.allocate(3 * kMiB);
  const auto text = message_of<OutOfMemory>([&] { pool.allocate(2 * kMiB); });
  EXPECT_TRUE(contains(text, "limit 4.00 MiB")) << text;
  EXPECT_TRUE(contains(text, "3.00 MiB allocated")) << text;
  EXPECT_EQ(pool.stats().ooms, 1u);
  EXPECT_EQ(pool.stats().allocated, 3 * kMiB);
  pool.free(first);
}

TEST(OutOfMemory, CacheIsEmptiedBeforeGivingUp) {
  const auto device = limited_device(4 * kMiB);
  BufferPool& pool = device->pool();
  pool.free(pool.allocate(3 * kMiB));
  Buffer* buffer = pool.allocate(2 * kMiB);
  EXPECT_EQ(pool.stats().reserved, 2 * kMiB);
  EXPECT_EQ(pool.stats().retries, 1u);
  EXPECT_EQ(pool.stats().ooms, 0u);
  pool.free(buffer);
}

TEST(OutOfMemory, CpuAdaptersHaveALimit) {
  Device& device = shared_device();
  if (device.info().adapter_type != "cpu") {
    GTEST_SKIP() << "the adapter has memory of its own";
  }
  EXPECT_GT(device.pool().memory_limit(), 64 * kMiB);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
