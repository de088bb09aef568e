#include "ops/kernel/autotune.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hal/blob_cache.h"
#include "hal/device.h"
#include "ops/runtime/runtime.h"

namespace torch_webgpu::ops {
namespace {

// What is kept, in memory over files. The mutex guards the map; files need none
// (see BlobCache).
class Kept {
 public:
  Kept() : files_(device_options().tuning_folder) {
    const hal::DeviceInfo& info = device().info();
    prefix_ = fmt::format("{}\n{}\n{}\n{}\n{}\n", TORCH_WEBGPU_VERSION,
                          info.implementation, info.name, info.description,
                          info.backend);
  }

  std::optional<size_t> find(const std::string& what,
                             std::span<const std::string> names) {
    const std::lock_guard lock(mutex_);
    auto found = best_.find(what);
    if (found == best_.end()) {
      const auto bytes = files_.load(key_of(what));
      if (!bytes) return std::nullopt;
      const std::string name(reinterpret_cast<const char*>(bytes->data()),
                             bytes->size());
      found = best_.emplace(what, name).first;
    }
    const auto at = std::ranges::find(names, found->second);
    if (at == names.end()) return std::nullopt;
    return size_t(at - names.begin());
  }

  void keep(const std::string& what, const std::string& name) {
    const std::lock_guard lock(mutex_);
    best_[what] = name;
    files_.store(key_of(what), std::as_bytes(std::span(name)));
  }

 private:
  // The result lives until the next call; the mutex is held.
  hal::BlobCache::Bytes key_of(const std::string& what) {
    key_ = prefix_ + what;
    return std::as_bytes(std::span(key_));
  }

  std::mutex mutex_;
  hal::BlobCache files_;
  std::string prefix_, key_;
  std::unordered_map<std::string, std::string> best_;
};

Kept& kept() {
  static Kept kept;
  return kept;
}

double seconds_of(c10::function_ref<void(size_t)> run, size_t candidate,
                  int repeats) {
  hal::Stream& stream = device().stream();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i)
    run(candidate);
  as_torch([&] { stream.synchronize(); });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
             .count() /
         repeats;
}

// The candidates take turns, so that a disturbance meets all of them.
size_t measure(size_t candidates, c10::function_ref<void(size_t)> run) {
  constexpr int kRounds = 3;
  constexpr double kEnough = 2e-3;  // of one measurement, in seconds
  std::vector<double> best(candidates, std::numeric_limits<double>::infinity());
  std::vector<int> repeats(candidates, 1);
  for (size_t i = 0; i < candidates; ++i) {
    seconds_of(run, i, 1);  // compiles
    const double once = seconds_of(run, i, 1);
    repeats[i] = int(std::clamp(kEnough / once, 1.0, 64.0));
  }
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < candidates; ++i)
      best[i] = std::min(best[i], seconds_of(run, i, repeats[i]));
  }
  return size_t(std::ranges::min_element(best) - best.begin());
}

}  // namespace

bool autotuning() {
  static const bool on = [] {
    const char* asked = std::getenv("TORCH_WEBGPU_AUTOTUNE");
    return asked != nullptr && std::string_view(asked) == "1";
  }();
  return on;
}

size_t tuned(const std::string& family, const std::string& shape_class,
             std::span<const std::string> names,
             c10::function_ref<void(size_t)> run) {
  const std::string what = family + "\n" + shape_class;
  if (const auto found = kept().find(what, names)) return *found;
  // One at a time, so that measurements do not disturb each other.
  static std::mutex measuring;
  const std::lock_guard lock(measuring);
  if (const auto found = kept().find(what, names)) return *found;
  const size_t best = measure(names.size(), run);
  kept().keep(what, names[best]);
  return best;
}

size_t tuned_before(const std::string& family, const std::string& shape_class,
                    std::span<const std::string> names, size_t otherwise) {
  return kept().find(family + "\n" + shape_class, names).value_or(otherwise);
}

std::string size_class(uint64_t size) {
  return std::to_string(std::bit_floor(size));
}

}  // namespace torch_webgpu::ops
