#include "hal/backlog.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace torch_webgpu::hal {
namespace {

// Small differences are noise, and each change counts the queue again.
constexpr double kNoise = 1.25;

double seconds_between(Backlog::Clock::time_point from,
                       Backlog::Clock::time_point to) {
  return std::max(0.0, std::chrono::duration<double>(to - from).count());
}

}  // namespace

void Backlog::add(const Kernel* kernel, uint64_t workgroups, uint64_t bytes) {
  // Sizes by powers of two: a kernel's time depends on both.
  uint64_t tag = reinterpret_cast<uintptr_t>(kernel);
  tag = (tag << 8 | static_cast<uint64_t>(std::bit_width(workgroups))) << 8 |
        static_cast<uint64_t>(std::bit_width(bytes));
  tag = (tag ^ tag >> 32) * 0x9E3779B97F4A7C15;
  tag ^= tag >> 32;
  Estimate& estimate = estimates_[tag % kEstimates];
  if (estimate.tag != tag) estimate = {tag, 0, kUnknown, 0};
  if (estimate.seconds < 0.0) {
    open_.repeats = std::max(open_.repeats, ++estimate.repeats);
  }
  open_.tags.push_back(tag);
  count(open_, tag);
}

void Backlog::count(Window& window, uint64_t tag) const {
  const Estimate& estimate = estimates_[tag % kEstimates];
  if (estimate.tag != tag) return;
  if (estimate.seconds < 0.0) {
    ++window.unknown;
  } else {
    window.seconds += estimate.seconds;
  }
}

void Backlog::drop() {
  for (const uint64_t tag : open_.tags)
    estimates_[tag % kEstimates].repeats = 0;
  open_.tags.clear();
  open_.seconds = 0.0;
  open_.unknown = open_.repeats = 0;
}

void Backlog::submit(Clock::time_point before, Clock::time_point after) {
  if (queued_.empty()) {
    earliest_start_ = before;
    latest_start_ = seen_running_ = after;
  }
  if (spare_.empty()) {
    queued_.emplace_back();
  } else {
    queued_.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }
  queued_.back() = open_;  // into the memory of an earlier one
  drop();
}

void Backlog::observe(uint64_t completed, Clock::time_point now) {
  const auto ended = static_cast<size_t>(completed - completed_);
  if (ended == 0) {
    seen_running_ = now;
    if (!queued_.empty()) learn_running(seconds_between(latest_start_, now));
    return;
  }
  learn(ended, seconds_between(latest_start_, seen_running_),
        seconds_between(earliest_start_, now));
  for (size_t i = 0; i < ended; ++i) {
    spare_.push_back(std::move(queued_.front()));
    queued_.pop_front();
  }
  completed_ = completed;
  earliest_start_ = seen_running_;
  latest_start_ = seen_running_ = now;
}

// The first windows together took at least the one and at most the other time.
// Within these bounds nothing is learned: the host may have looked away. What
// is new gets the upper one, which is put right soon: little is queued then.
void Backlog::learn(size_t windows, double shortest, double longest) {
  double known = 0.0;
  uint32_t unknown = 0;
  for (size_t i = 0; i < windows; ++i) {
    known += queued_[i].seconds;
    unknown += queued_[i].unknown;
  }
  double factor = 1.0;
  if (unknown == 0 && known > 0.0 && known * kNoise < shortest) {
    factor = shortest / known;
  }
  if (known > longest * kNoise) factor = longest / known;
  if (unknown == 0 && factor == 1.0) return;
  scale(windows, factor,
        unknown == 0 ? 0.0 : std::max(longest - known, 0.0) / unknown);
}

// The first window takes longer than expected, and others may be like it.
void Backlog::learn_running(double shortest) {
  const Window& first = queued_.front();
  if (first.unknown == 0 && first.seconds > 0.0 &&
      first.seconds * kNoise < shortest) {
    scale(1, shortest / first.seconds, 0.0);
  }
}

void Backlog::scale(size_t windows, double factor, double unknown) {
  constexpr double kLeast = 1e-6;
  ++updates_;
  for (size_t i = 0; i < windows; ++i) {
    for (const uint64_t tag : queued_[i].tags) {
      Estimate& estimate = estimates_[tag % kEstimates];
      if (estimate.tag != tag || estimate.updated == updates_) continue;
      estimate.updated = updates_;
      estimate.seconds = std::max(
          estimate.seconds < 0.0 ? unknown : estimate.seconds * factor, kLeast);
    }
  }
  const auto again = [this](Window& window) {
    window.seconds = 0.0;
    window.unknown = 0;
    for (const uint64_t tag : window.tags)
      count(window, tag);
    if (window.unknown == 0) window.repeats = 0;
  };
  for (Window& window : queued_)
    again(window);
  again(open_);
}

bool Backlog::full() const {
  return queued_.size() >= kAlwaysAllowed && too_much({});
}

bool Backlog::full_with_open() const {
  return too_much({{}, open_.seconds, open_.unknown, open_.repeats});
}

bool Backlog::too_much(Window sum) const {
  for (const Window& window : queued_) {
    sum.seconds += window.seconds;
    sum.unknown += window.unknown;
    sum.repeats += window.repeats;
  }
  return sum.seconds > kSeconds || sum.unknown > kUnknownAllowed ||
         sum.repeats >= kAlwaysAllowed * kNewRepeats;
}

}  // namespace torch_webgpu::hal
