#include <algorithm>
#include <atomic>
#include <thread>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

using Clock = std::chrono::steady_clock;

// A device of its own, so that its counts are exact.
class Waiting : public ::testing::Test {
 protected:
  // Runs `wait` on another thread and `work` again and again until it is over.
  // Returns the longest time that `work` took.
  template <typename Wait, typename Work>
  double longest_while(Wait wait, Work work) {
    // Makes what it needs, and shows how long that takes: the first time is
    // not typical.
    for (int i = 0; i < 4; ++i) {
      work();
      device_->stream().synchronize();
    }
    const Clock::time_point start = Clock::now();
    spinner_.run(kSeconds);
    device_->stream().flush();
    std::atomic<bool> over = false;
    std::thread waiter([&] {
      wait();
      over = true;
    });
    double longest = 0.0;
    int turns = 0;
    for (; !over; ++turns) {
      const Clock::time_point begin = Clock::now();
      work();
      longest = std::max(longest, seconds_since(begin));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    waiter.join();
    EXPECT_GT(seconds_since(start), kSeconds / 2);
    EXPECT_GT(turns, 10);
    return longest;
  }
  void allocate_and_free() {
    BufferPool& pool = device_->pool();
    pool.free(pool.allocate(1000));
  }

  static constexpr double kSeconds = 0.3;
  std::unique_ptr<Device> device_ = Device::create(options());
  Spinner spinner_{*device_};
};

TEST_F(Waiting, InSynchronizeHoldsNobodyUp) {
  const double longest = longest_while([&] { device_->stream().synchronize(); },
                                       [&] { allocate_and_free(); });
  EXPECT_LT(longest, kSeconds / 3);
}

TEST_F(Waiting, InReadHoldsNobodyUp) {
  const Scoped data(*device_, std::vector<float>(64, 1.0f));
  const double longest = longest_while(
      [&] { EXPECT_EQ(data.read(1)[0], 1.0f); }, [&] { allocate_and_free(); });
  EXPECT_LT(longest, kSeconds / 3);
}

TEST_F(Waiting, InEmptyCacheHoldsNobodyUp) {
  device_->pool().free(device_->pool().allocate(5000));
  const double longest = longest_while([&] { device_->pool().empty_cache(); },
                                       [&] { allocate_and_free(); });
  EXPECT_LT(longest, kSeconds / 3);
}

// Also of more than one window, though on some drivers a submit waits for the
// one before.
TEST_F(Waiting, LeavesTheStreamToOthers) {
  const Scoped data(*device_, 256);
  const double longest =
      longest_while([&] { device_->stream().synchronize(); },
                    [&] {
                      for (int i = 0; i < 10; ++i)
                        run_affine(*device_, data, {64, 1.0f, 1.0f});
                    });
  EXPECT_LT(longest, kSeconds / 3);
}

TEST_F(Waiting, LeavesWritesToOthers) {
  const Scoped data(*device_, 256);
  const std::vector<float> values(64, 1.0f);
  const double longest = longest_while(
      [&] { device_->stream().synchronize(); },
      [&] { device_->stream().write(data, 0, values.data(), 256); });
  EXPECT_LT(longest, kSeconds / 3);
}

TEST_F(Waiting, AReadIsOfItsPlaceInTheStream) {
  const Scoped data(*device_, std::vector<float>(64, 1.0f));
  run_affine(*device_, data, {64, 1.0f, 0.0f});
  device_->stream().synchronize();
  const uint64_t waits = device_->stats().waits;
  spinner_.run(kSeconds);
  float first = 0.0f;
  std::thread reader([&] { first = data.read(1)[0]; });
  while (device_->stats().waits == waits)
    std::this_thread::yield();
  run_affine(*device_, data, {64, 1.0f, 5.0f});
  const float second = data.read(1)[0];
  reader.join();
  EXPECT_EQ(first, 1.0f);
  EXPECT_EQ(second, 6.0f);
}

TEST_F(Waiting, EachReadHasItsOwnStaging) {
  constexpr size_t kReaders = 6, kCount = 1 << 18;
  std::vector<std::unique_ptr<Scoped>> data;
  for (size_t i = 0; i < kReaders; ++i) {
    data.push_back(std::make_unique<Scoped>(
        *device_, std::vector<float>(kCount, static_cast<float>(i))));
  }
  spinner_.run(kSeconds / 3);
  std::atomic<size_t> right = 0;
  std::vector<std::thread> readers;
  for (size_t i = 0; i < kReaders; ++i) {
    readers.emplace_back([&, i] {
      for (int turn = 0; turn < 5; ++turn) {
        right += data[i]->read(kCount) ==
                 std::vector<float>(kCount, static_cast<float>(i));
      }
    });
  }
  for (std::thread& reader : readers)
    reader.join();
  EXPECT_EQ(right, kReaders * 5);
}

TEST_F(Waiting, ALossEndsEveryWait) {
  const Scoped data(*device_, 256);
  spinner_.run(kSeconds);
  device_->stream().flush();
  std::atomic<int> told = 0;
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&, i] {
      try {
        if (i % 2 == 0) device_->stream().synchronize();
        if (i % 2 == 1) data.read(1);
      } catch (const DeviceLost&) {
        ++told;
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  device_->lose_for_testing();
  for (std::thread& waiter : waiters)
    waiter.join();
  EXPECT_EQ(told, 4);
}

// The hooks run on the thread that waits, in pairs, without any lock: a call
// that needs it would never return.
Device* g_hooked = nullptr;
thread_local int t_depth = 0;
std::atomic<int> g_begun = 0, g_ended = 0;

void* begin_wait() {
  if (g_hooked != nullptr) g_hooked->stats();
  EXPECT_EQ(t_depth++, 0);
  ++g_begun;
  return &t_depth;
}

void end_wait(void* state) {
  if (g_hooked != nullptr) g_hooked->stats();
  EXPECT_EQ(state, &t_depth);
  EXPECT_EQ(--t_depth, 0);
  ++g_ended;
}

TEST(WaitHooks, AreToldOutsideOfTheLock) {
  DeviceOptions hooked = options();
  hooked.waiting = {begin_wait, end_wait};
  const auto device = Device::create(hooked);
  Spinner spinner(*device);
  const Scoped data(*device, 256);
  g_hooked = device.get();
  g_begun = g_ended = 0;
  spinner.run(0.05);
  device->stream().synchronize();
  EXPECT_EQ(g_begun, 1);
  spinner.run(0.05);
  data.read(1);
  EXPECT_EQ(g_begun, 2);
  EXPECT_EQ(g_ended, 2);
  device->stream().synchronize();  // nothing to wait for
  EXPECT_EQ(g_begun, 2);
  g_hooked = nullptr;
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
