#include "hal/backlog.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace torch_webgpu::hal {
namespace {

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
    repeats_ = std::max(repeats_, ++estimate.repeats);
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
  repeats_ = 0;
  open_.tags.clear();
  open_.seconds = 0.0;
  open_.unknown = 0;
}

void Backlog::submit(Clock::time_point now) {
  if (queued_.empty()) earliest_start_ = latest_start_ = now;
  seen_running_ = now;
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
// Within these bounds nothing is learned: the host may have looked away.
void Backlog::learn(size_t windows, double shortest, double longest) {
  double known = 0.0;
  uint32_t unknown = 0;
  for (size_t i = 0; i < windows; ++i) {
    known += queued_[i].seconds;
    unknown += queued_[i].unknown;
  }
  // Small differences are noise, and each change counts the queue again.
  constexpr double kNoise = 1.25;
  double scale = 1.0;
  if (unknown == 0 && known > 0.0 && known * kNoise < shortest) {
    scale = shortest / known;
  }
  if (known > longest * kNoise) scale = longest / known;
  if (unknown == 0 && scale == 1.0) return;
  constexpr double kLeast = 1e-6;
  const double rest =
      unknown == 0 ? 0.0 : std::max(shortest - known, 0.0) / unknown;
  ++updates_;
  for (size_t i = 0; i < windows; ++i) {
    for (const uint64_t tag : queued_[i].tags) {
      Estimate& estimate = estimates_[tag % kEstimates];
      if (estimate.tag != tag || estimate.updated == updates_) continue;
      estimate.updated = updates_;
      estimate.seconds = std::max(
          estimate.seconds < 0.0 ? rest : estimate.seconds * scale, kLeast);
    }
  }
  const auto again = [&](Window& window) {
    window.seconds = 0.0;
    window.unknown = 0;
    for (const uint64_t tag : window.tags)
      count(window, tag);
  };
  for (size_t i = windows; i < queued_.size(); ++i)
    again(queued_[i]);
  again(open_);
}

bool Backlog::full() const {
  if (queued_.size() < kAlwaysAllowed) return false;
  double seconds = 0.0;
  for (const Window& window : queued_) {
    if (window.unknown > 0) return true;
    seconds += window.seconds;
  }
  return seconds > kSeconds;
}

}  // namespace torch_webgpu::hal
