#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

class Timestamps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device_.info().timestamps) {
      GTEST_SKIP() << "the adapter has no timestamp queries";
    }
    device_.stream().take_timings();
  }
  void TearDown() override { device_.stream().set_profiling(false); }
  Device& device_ = shared_device();
};

TEST_F(Timestamps, OneRowPerDispatchInOrder) {
  const Scoped large(device_, 4 << 20), small(device_, 256);
  const Scoped a(device_, 256), b(device_, 256);
  device_.stream().set_profiling(true);
  run_affine(device_, large, {1 << 20, 1.0f, 1.0f});
  run_add(device_, a, b, small, 64);
  device_.stream().set_profiling(false);
  run_add(device_, a, b, small, 64);
  const auto timings = device_.stream().take_timings();
  ASSERT_EQ(timings.size(), 2u);
  EXPECT_EQ(timings[0].label, "test_affine");
  EXPECT_EQ(timings[1].label, "test_add");
  for (const KernelTiming& timing : timings) {
    EXPECT_LE(timing.begin_ns, timing.end_ns);
  }
  EXPECT_GE(timings[1].begin_ns, timings[0].begin_ns);
  // A megafloat takes longer than a microsecond and less than a minute.
  EXPECT_GT(timings[0].end_ns - timings[0].begin_ns, 1'000u);
  EXPECT_LT(timings[0].end_ns - timings[0].begin_ns, 60'000'000'000u);
  EXPECT_TRUE(device_.stream().take_timings().empty());
}

TEST_F(Timestamps, MoreThanOneQuerySetHolds) {
  const Scoped data(device_, std::vector<float>(64, 0.0f));
  device_.stream().set_profiling(true);
  constexpr size_t kDispatches = 2500;
  for (size_t i = 0; i < kDispatches; ++i) {
    run_affine(device_, data, {64, 1.0f, 1.0f});
  }
  EXPECT_EQ(device_.stream().take_timings().size(), kDispatches);
  EXPECT_EQ(data.read(1)[0], static_cast<float>(kDispatches));
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
