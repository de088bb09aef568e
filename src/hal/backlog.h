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
// of its work; a window with anything new counts as more than is known. The
// Device's lock is held for every call.
class Backlog {
 public:
  using Clock = std::chrono::steady_clock;

  // One more command of the open window; a copy has no kernel.
  void add(const Kernel* kernel, uint64_t workgroups, uint64_t bytes);
  void drop();  // the open window is given up
  // The open window has been submitted. What was queued before counts as
  // running until now: on some drivers a submit waits for it.
  void submit(Clock::time_point now);
  // The last window that has ended, counted from 1, as the host sees it now.
  void observe(uint64_t completed, Clock::time_point now);

  // Whether the open window is long enough to be submitted before it is full,
  // or repeats something new, of which a few tell enough.
  bool window_long() const {
    return open_.seconds >= kWindowSeconds || repeats_ >= kNewRepeats;
  }
  // Whether no further window should be opened now.
  bool full() const;

 private:
  // What the host may be ahead; two windows are always allowed, so that the
  // GPU has work while the host learns of an end.
  static constexpr double kSeconds = 0.25;
  static constexpr double kWindowSeconds = kSeconds / 2;
  static constexpr size_t kAlwaysAllowed = 2;
  static constexpr uint32_t kNewRepeats = 8;
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
  };

  void count(Window& window, uint64_t tag) const;
  void learn(size_t windows, double shortest, double longest);

  std::array<Estimate, kEstimates> estimates_;
  uint64_t updates_ = 0;
  Window open_;
  uint32_t repeats_ = 0;  // the most of any
  std::deque<Window> queued_;
  std::vector<Window> spare_;  // keeps the vectors' memory
  uint64_t completed_ = 0;
  // The first queued window began between these two, and was last seen to run
  // at the third.
  Clock::time_point earliest_start_, latest_start_, seen_running_;
};

}  // namespace torch_webgpu::hal
