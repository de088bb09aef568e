#include <numeric>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

std::vector<uint8_t> pattern(size_t count) {
  std::vector<uint8_t> values;
  values.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<uint8_t>(i * 131 + (i >> 8)));
  }
  return values;
}

TEST(Transfer, ReadsAnyOffsetAndSize) {
  Device& device = shared_device();
  const auto values = pattern(64);
  const Scoped data(device, values);
  for (size_t offset = 0; offset < 9; ++offset) {
    for (size_t size = 0; size < 12; ++size) {
      const std::vector<uint8_t> expected(values.begin() + offset,
                                          values.begin() + offset + size);
      EXPECT_EQ(data.read<uint8_t>(size, offset), expected)
          << offset << " " << size;
    }
  }
}

TEST(Transfer, WritesAnOddTail) {
  Device& device = shared_device();
  for (size_t size = 1; size < 10; ++size) {
    const auto values = pattern(size);
    const Scoped data(device, values);
    EXPECT_EQ(data.read<uint8_t>(size), values);
  }
}

TEST(Transfer, WriteThatWouldHurtANeighbourIsRefused) {
  Device& device = shared_device();
  const Scoped data(device, pattern(16));
  const uint8_t bytes[8] = {};
  EXPECT_THROW(device.stream().write(data, 0, bytes, 3), Error);
  EXPECT_THROW(device.stream().write(data, 2, bytes, 4), Error);
  EXPECT_EQ(data.read<uint8_t>(16), pattern(16));
}

TEST(Transfer, RangesOutsideTheBufferAreRefused) {
  Device& device = shared_device();
  Stream& stream = device.stream();
  const Scoped a(device, 256), b(device, 256);
  std::vector<uint8_t> host(1024);
  EXPECT_THROW(stream.write(a, 0, host.data(), 260), Error);
  EXPECT_THROW(stream.write(a, UINT64_MAX - 3, host.data(), 4), Error);
  EXPECT_THROW(stream.read(a, 255, host.data(), 2), Error);
  EXPECT_THROW(stream.copy(a, 0, b, 4, 256), Error);
  EXPECT_THROW(stream.copy(a, 2, b, 0, 4), Error);
  EXPECT_THROW(stream.copy(a, 0, b, 0, 6), Error);
  EXPECT_THROW(stream.copy(nullptr, 0, b, 0, 4), Error);
  EXPECT_THROW(stream.clear(a, 0, 512), Error);
  EXPECT_THROW(stream.clear(a, 1, 4), Error);
}

TEST(Transfer, FreedBuffersAreRefused) {
  Device& device = shared_device();
  Buffer* buffer = device.pool().allocate(256);
  device.pool().free(buffer);
  float value = 0;
  EXPECT_THROW(device.stream().write(buffer, 0, &value, 4), Error);
  EXPECT_THROW(device.stream().read(buffer, 0, &value, 4), Error);
  EXPECT_THROW(device.stream().clear(buffer, 0, 4), Error);
}

TEST(Transfer, NothingOfNothing) {
  Device& device = shared_device();
  const Scoped a(device, uint64_t{0}), b(device, uint64_t{0});
  EXPECT_GE(a->size(), 4u);
  const uint64_t before = device.stats().submits;
  device.stream().write(a, 0, nullptr, 0);
  device.stream().read(a, 0, nullptr, 0);
  device.stream().copy(a, 0, b, 0, 0);
  device.stream().clear(a, 0, 0);
  EXPECT_EQ(device.stats().submits, before);
}

TEST(Transfer, CopiesWithinABufferMayOverlap) {
  Device& device = shared_device();
  std::vector<uint32_t> values(64);
  std::iota(values.begin(), values.end(), 0u);
  const Scoped data(device, values);
  device.stream().copy(data, 0, data, 16, 240);
  const auto result = data.read<uint32_t>(64);
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(result[i], i < 4 ? i : i - 4);
  }
}

TEST(Transfer, LargerThanOneChunk) {
  Device& device = shared_device();
  const size_t count = (size_t{130} << 20) + 3;
  const auto values = pattern(count);
  const Scoped data(device, values);
  EXPECT_TRUE(data.read<uint8_t>(count) == values);
}

TEST(Transfer, CountsItsWork) {
  Device& device = shared_device();
  const Stats before = device.stats();
  const Scoped a(device, std::vector<float>(4, 1.0f)), b(device, 16);
  device.stream().copy(a, 0, b, 0, 16);
  b.read(4);
  const Stats after = device.stats();
  EXPECT_EQ(after.writes - before.writes, 1u);
  EXPECT_EQ(after.copies - before.copies, 1u);
  EXPECT_EQ(after.readbacks - before.readbacks, 1u);
  EXPECT_GE(after.waits - before.waits, 1u);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
