#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "hal/kernel.h"

namespace torch_webgpu::hal {

// How much work is queued on the GPU, as an estimate in seconds: exit,
// synchronize() and an interrupt wait for it. What a command takes is learned
// from the times at which windows were seen to end, for each kernel and size
// of its work; of what is new, only a little is queued. The Device's lock is
// held for every call.
class Backlog {
 public:
  using Clock = std::chrono::steady_clock;

  // One more command of the open window; a copy has no kernel.
  void add(const Kernel* kernel, uint64_t workgroups, uint64_t bytes);
  void drop();  // the open window is given up
  // The open window has been submitted, by a call between these two.
  void submit(Clock::time_point before, Clock::time_point after);
  // The last window that has ended, counted from 1, as the host sees it now.
  void observe(uint64_t completed, Clock::time_point now);

  // Whether the open window is long enough to be submitted before it is full,
  // or repeats something new, of which a few tell enough.
  bool window_long() const {
    return open_.seconds >= kWindowSeconds || open_.repeats >= kNewRepeats;
  }
  // Whether no further window should be opened now, or whether the open one
  // should not grow.
  bool full() const;
  bool full_with_open() const;

 private:
  // What the host may be ahead: more than one thread's long kernel, during
  // which others go on, and so little that nobody minds to wait for it. Two
  // windows are always allowed, so that the GPU has work while the host learns
  // of an end.
  static constexpr double kSeconds = 0.5;
  static constexpr double kWindowSeconds = 0.125;
  static constexpr size_t kAlwaysAllowed = 2;
  // Of what is new, in all; the repeats of any one kind are counted apart,
  // since there may be any number of them.
  static constexpr uint32_t kUnknownAllowed = 64;
  static constexpr uint32_t kNewRepeats = 2;
  static constexpr double kUnknown = -1.0;
  static constexpr size_t kEstimates = 2048;

  // Found by tag % kEstimates; a newer command takes an older one's place.
  struct Estimate {
    uint64_t tag = 0;
    uint64_t updated = 0;
    double seconds = kUnknown;
    uint32_t repeats = 0;  // in the open window, while it is unknown
  };
  struct Window {
    std::vector<uint64_t> tags;
    double seconds = 0.0;  // of what is known
    uint32_t unknown = 0;
    uint32_t repeats = 0;  // the most of any that is unknown
  };

  bool too_much(Window sum) const;
  void count(Window& window, uint64_t tag) const;
  void learn(size_t windows, double shortest, double longest);
  void learn_running(double shortest);
  void scale(size_t windows, double factor, double unknown);

  std::array<Estimate, kEstimates> estimates_;
  uint64_t updates_ = 0;
  Window open_;
  std::deque<Window> queued_;
  std::vector<Window> spare_;  // keeps the vectors' memory
  uint64_t completed_ = 0;
  // The first queued window began between these two, and was last seen to run
  // at the third.
  Clock::time_point earliest_start_, latest_start_, seen_running_;
};

}  // namespace torch_webgpu::hal
