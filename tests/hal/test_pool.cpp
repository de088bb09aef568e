#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// The pool of a device of its own, so that figures are exact.
class Pool : public ::testing::Test {
 protected:
  Pool() : device_(Device::create(options())), pool_(device_->pool()) {}
  std::unique_ptr<Device> device_;
  BufferPool& pool_;
};

TEST(SizeClass, RoundsFinelyThenInEighths) {
  const uint64_t no_limit = uint64_t{1} << 40;
  EXPECT_EQ(BufferPool::size_class(0, no_limit), 256u);
  EXPECT_EQ(BufferPool::size_class(1, no_limit), 256u);
  EXPECT_EQ(BufferPool::size_class(256, no_limit), 256u);
  EXPECT_EQ(BufferPool::size_class(257, no_limit), 512u);
  EXPECT_EQ(BufferPool::size_class(kMiB, no_limit), kMiB);
  EXPECT_EQ(BufferPool::size_class(kMiB + 1, no_limit), kMiB + kMiB / 8);
  EXPECT_EQ(BufferPool::size_class(9 * kMiB + 1, no_limit), 10 * kMiB);
  // A class that the adapter cannot make shrinks to the vectors asked for.
  EXPECT_EQ(BufferPool::size_class(9 * kMiB + 1, 9 * kMiB + 16), 9 * kMiB + 16);
}

TEST(SizeClass, NeverBelowTheRequest) {
  for (uint64_t bytes = 1; bytes < 64 * kMiB; bytes += bytes / 7 + 1) {
    const uint64_t size = BufferPool::size_class(bytes, uint64_t{1} << 31);
    const uint64_t tight =
        BufferPool::size_class(bytes, (bytes + 15) / 16 * 16);
    EXPECT_EQ(tight % 16, 0u);
    EXPECT_GE(size, bytes);
    EXPECT_EQ(size % 16, 0u);
    EXPECT_LE(size, std::max<uint64_t>(256, bytes + bytes / 8 + 256));
  }
}

TEST_F(Pool, ReusesTheSameSizeAtOnce) {
  Buffer* first = pool_.allocate(1000);
  const uint64_t id = first->id();
  pool_.free(first);
  Buffer* second = pool_.allocate(900);
  EXPECT_EQ(second->id(), id);
  EXPECT_EQ(pool_.stats().buffers_created, 1u);
  pool_.free(second);
}

TEST_F(Pool, TakesALittleLargerButNotMuchLarger) {
  pool_.free(pool_.allocate(10 * kMiB));
  Buffer* close = pool_.allocate(9 * kMiB);
  EXPECT_EQ(close->size(), 10 * kMiB);
  pool_.free(close);
  Buffer* far = pool_.allocate(4 * kMiB);
  EXPECT_EQ(far->size(), 4 * kMiB);
  pool_.free(far);
}

TEST_F(Pool, PrefersTheExactSize) {
  Buffer* large = pool_.allocate(10 * kMiB);
  Buffer* exact = pool_.allocate(9 * kMiB);
  pool_.free(large);
  pool_.free(exact);
  EXPECT_EQ(pool_.allocate(9 * kMiB), exact);
}

TEST_F(Pool, CountsWhatIsAllocatedReservedAndPeak) {
  Buffer* a = pool_.allocate(1000);
  Buffer* b = pool_.allocate(2000);
  EXPECT_EQ(pool_.stats().allocated, 1024u + 2048u);
  EXPECT_EQ(pool_.stats().requested, 3000u);
  EXPECT_EQ(pool_.stats().active_blocks, 2u);
  pool_.free(a);
  PoolStats stats = pool_.stats();
  EXPECT_EQ(stats.allocated, 2048u);
  EXPECT_EQ(stats.peak_allocated, 3072u);
  EXPECT_EQ(stats.reserved, 3072u);
  EXPECT_EQ(stats.cached_blocks, 1u);
  pool_.reset_peak();
  EXPECT_EQ(pool_.stats().peak_allocated, 2048u);
  pool_.empty_cache();
  stats = pool_.stats();
  EXPECT_EQ(stats.reserved, 2048u);
  EXPECT_EQ(stats.peak_reserved, 3072u);
  EXPECT_EQ(stats.buffers_destroyed, 1u);
  pool_.free(b);
  EXPECT_EQ(pool_.stats().frees, 2u);
  pool_.reset_accumulated();
  EXPECT_EQ(pool_.stats().frees, 0u);
  EXPECT_EQ(pool_.stats().reserved, 2048u);
}

TEST_F(Pool, FreeIgnoresNullAndASecondFree) {
  pool_.free(nullptr);
  Buffer* buffer = pool_.allocate(4);
  pool_.free(buffer);
  pool_.free(buffer);
  EXPECT_EQ(pool_.stats().frees, 1u);
  EXPECT_NE(pool_.allocate(4), pool_.allocate(4));
}

TEST_F(Pool, AddressesAreApartAndFound) {
  std::set<Buffer*> buffers;
  for (int i = 0; i < 20; ++i)
    buffers.insert(pool_.allocate(100 * i));
  for (Buffer* buffer : buffers) {
    auto* start = static_cast<char*>(buffer->address());
    EXPECT_EQ(pool_.find(start), buffer);
    EXPECT_EQ(pool_.find(start + buffer->size() - 1), buffer);
    EXPECT_NE(pool_.find(start + buffer->size()), buffer);
  }
  EXPECT_EQ(pool_.find(nullptr), nullptr);
  EXPECT_EQ(pool_.find(this), nullptr);
  Buffer* freed = *buffers.begin();
  pool_.free(freed);
  EXPECT_EQ(pool_.find(freed->address()), nullptr);
}

TEST_F(Pool, AddressesCannotBeTouched) {
  Buffer* buffer = pool_.allocate(4096);
  // The kernel reads on our behalf and reports what would kill the process.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  errno = 0;
  EXPECT_EQ(write(ends[1], buffer->address(), 1), -1);
  EXPECT_EQ(errno, EFAULT);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Pool, NewBuffersHoldZeros) {
  const Scoped buffer(*device_, 1024);
  EXPECT_EQ(buffer.read(256), std::vector<float>(256, 0.0f));
}

TEST_F(Pool, EmptyingDropsBindGroupsOfDestroyedBuffersOnly) {
  const Scoped kept(*device_, std::vector<float>(64, 1.0f));
  {
    const Scoped gone(*device_, std::vector<float>(64, 1.0f));
    run_affine(*device_, kept, {64, 2.0f, 0.0f});
    run_affine(*device_, gone, {64, 2.0f, 0.0f});
  }
  pool_.empty_cache();
  const uint64_t before = device_->stats().bind_groups_created;
  run_affine(*device_, kept, {64, 2.0f, 0.0f});
  EXPECT_EQ(device_->stats().bind_groups_created, before);
  const Scoped fresh(*device_, std::vector<float>(64, 1.0f));
  run_affine(*device_, fresh, {64, 3.0f, 0.0f});
  EXPECT_EQ(device_->stats().bind_groups_created, before + 1);
  EXPECT_EQ(kept.read(1)[0], 4.0f);
  EXPECT_EQ(fresh.read(1)[0], 3.0f);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
