#include "hal/backlog.h"

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

// Backlog with a clock of the test's: milliseconds.
class Clockwork {
 public:
  void add(const Kernel& kernel, int times = 1, uint64_t bytes = 1000) {
    for (int i = 0; i < times; ++i)
      backlog_.add(&kernel, 10, bytes);
  }
  void submit(int64_t now) {
    backlog_.submit(at(now), at(now));
    ++submitted_;
  }
  // The host looks each millisecond until the next window is over.
  void finish_one(int64_t from, int64_t to) {
    for (int64_t now = from; now < to; ++now)
      backlog_.observe(completed_, at(now));
    backlog_.observe(++completed_, at(to));
  }
  // One window of the kernel that takes so long, on an idle device.
  void teach(const Kernel& kernel, int times, int64_t milliseconds) {
    const int64_t now = later();
    add(kernel, times);
    submit(now);
    finish_one(now, now + milliseconds);
  }
  int64_t later() { return time_ += 10'000; }
  static Backlog::Clock::time_point at(int64_t milliseconds) {
    return Backlog::Clock::time_point(std::chrono::milliseconds(milliseconds));
  }
  Backlog& operator*() { return backlog_; }
  Backlog* operator->() { return &backlog_; }

 private:
  Backlog backlog_;
  int64_t time_ = 0;
  uint64_t submitted_ = 0, completed_ = 0;
};

TEST(Backlog, TwoWindowsOfSomethingNewAreEnough) {
  Clockwork clock;
  const Kernel kernel;
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(clock->full());
    clock.add(kernel, 2);
    clock.submit(i);
  }
  EXPECT_TRUE(clock->full());
  clock.finish_one(2, 6);
  EXPECT_FALSE(clock->full());
}

// Nobody waits for another thread's one new kernel.
TEST(Backlog, OneCommandOfSomethingNewStopsNobody) {
  Clockwork clock;
  const Kernel fresh, known;
  clock.teach(known, 4, 1);
  const int64_t now = clock.later();
  clock.add(fresh);
  clock.submit(now);
  for (int i = 0; i < 10; ++i) {
    clock.add(known, 64);
    clock.submit(now);
  }
  EXPECT_FALSE(clock->full());
}

TEST(Backlog, AnOpenWindowThatGrowsCounts) {
  Clockwork clock;
  const Kernel dear, fresh;
  clock.teach(dear, 4, 40);
  clock.add(dear, 30);
  EXPECT_FALSE(clock->full_with_open());
  clock.submit(clock.later());
  clock.add(dear, 25);
  EXPECT_TRUE(clock->full_with_open());
  EXPECT_FALSE(clock->full());
  clock->drop();
  clock.add(fresh, 17);
  EXPECT_TRUE(clock->full_with_open());
}

TEST(Backlog, SomethingNewIsNotRepeatedLong) {
  Clockwork clock;
  const Kernel kernel;
  clock.add(kernel);
  EXPECT_FALSE(clock->window_long());
  clock.add(kernel);
  EXPECT_TRUE(clock->window_long());
  clock.submit(0);
  EXPECT_FALSE(clock->window_long());
  clock.finish_one(0, 2);
  clock.add(kernel, 100);
  EXPECT_FALSE(clock->window_long());
}

TEST(Backlog, IsBoundedByTime) {
  Clockwork clock;
  const Kernel cheap, dear;
  clock.teach(cheap, 4, 4);
  clock.teach(dear, 4, 40);
  const int64_t now = clock.later();
  int windows = 0;
  for (; !clock->full(); ++windows) {
    clock.add(dear, 2);
    clock.submit(now);
  }
  EXPECT_GE(windows, 23);
  EXPECT_LE(windows, 28);
}

TEST(Backlog, ALongWindowIsSubmittedEarly) {
  Clockwork clock;
  const Kernel dear;
  clock.teach(dear, 4, 40);
  int commands = 0;
  for (; !clock->window_long(); ++commands)
    clock.add(dear);
  EXPECT_GE(commands, 11);
  EXPECT_LE(commands, 14);
}

TEST(Backlog, AHostThatLooksAwayLearnsNothing) {
  Clockwork clock;
  const Kernel kernel;
  clock.teach(kernel, 4, 4);
  const int64_t now = clock.later();
  clock.add(kernel, 4);
  clock.submit(now);
  clock.finish_one(now + 5000, now + 5000);  // looks once, late
  clock.add(kernel, 100);
  EXPECT_FALSE(clock->window_long());
}

TEST(Backlog, LearnsThatTheSameTakesLonger) {
  Clockwork clock;
  const Kernel kernel;
  clock.teach(kernel, 4, 4);
  clock.teach(kernel, 4, 400);
  clock.add(kernel, 2);
  EXPECT_TRUE(clock->window_long());
  clock->drop();
  clock.teach(kernel, 4, 4);
  clock.add(kernel, 64);
  EXPECT_FALSE(clock->window_long());
}

TEST(Backlog, LearnsFromAWindowThatStillRuns) {
  Clockwork clock;
  const Kernel kernel, other;
  clock.teach(kernel, 4, 4);
  clock.teach(other, 4, 4);
  const int64_t now = clock.later();
  clock.add(kernel, 4);
  clock.submit(now);
  clock.add(other, 64);
  clock->observe(2, clock.at(now + 400));
  EXPECT_FALSE(clock->window_long());
  clock.add(kernel, 2);
  EXPECT_TRUE(clock->window_long());
}

TEST(Backlog, ANewOneThatNobodyWatchedCountsAsLong) {
  Clockwork clock;
  const Kernel kernel;
  const int64_t now = clock.later();
  clock.add(kernel, 2);
  clock.submit(now);
  clock.finish_one(now + 500, now + 500);
  clock.add(kernel);
  EXPECT_TRUE(clock->window_long());
  clock.submit(now + 600);
  clock.finish_one(now + 601, now + 601);
  clock.add(kernel, 64);
  EXPECT_FALSE(clock->window_long());
}

// Of other sizes nothing is known.
TEST(Backlog, SizesAreToldApart) {
  Clockwork clock;
  const Kernel kernel;
  clock.teach(kernel, 8, 4);
  clock.add(kernel, 8, 1000);
  EXPECT_FALSE(clock->window_long());
  clock.add(kernel, 8, 100'000);
  EXPECT_TRUE(clock->window_long());
}

TEST(Backlog, OfTheStreamIsShort) {
  Device& device = shared_device();
  Spinner spinner(device);
  for (int i = 0; i < 3; ++i) {
    spinner.run(0.01);
    device.stream().synchronize();
  }
  // Unbounded, it would record some hundred thousand.
  const auto start = std::chrono::steady_clock::now();
  while (seconds_since(start) < 0.5)
    spinner.run(0.01);
  device.stream().synchronize();
  EXPECT_LT(seconds_since(start), 5.0);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
