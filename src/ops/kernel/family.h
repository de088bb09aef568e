#pragma once

#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "hal/device.h"
#include "ops/kernel/assembler.h"
#include "ops/kernel/registry.h"
#include "ops/runtime/runtime.h"

namespace torch_webgpu::ops {

// A family of kernels: one WGSL generator that reads one Variant and nothing
// else. The bytes of the Variant are the cache's key, so a key cannot miss a
// property that the text depends on. Make families static objects at namespace
// scope; they are listed for offline validation by what `enumerate` returns.
//
// A Variant whose operands may be bound in windows names these fields in
// kWindows. Each is listed with one window and with two; more windows only
// repeat the second one's lines.
template <class Variant>
class Family {
  // No padding: equal variants have equal bytes.
  static_assert(std::is_trivially_copyable_v<Variant> &&
                std::has_unique_object_representations_v<Variant>);

 public:
  using Describe = wgsl::KernelText (*)(const Variant&);
  using Enumerate = std::vector<Variant> (*)();

  Family(Describe describe, Enumerate enumerate) : describe_(describe) {
    register_family([=](std::vector<ListedKernel>& all) {
      const auto list = [&](const Variant& variant) {
        auto source = wgsl::assemble(describe(variant));
        all.push_back({source.label, serialise(variant), std::move(source)});
      };
      for (const Variant& variant : enumerate()) {
        list(variant);
        if constexpr (requires { Variant::kWindows; }) {
          Variant large = variant;
          for (const auto windows : Variant::kWindows)
            large.*windows = 2;
          list(large);
        }
      }
    });
  }

  // The compiled kernel; compiles on first use. Any thread.
  const hal::Kernel& operator()(const Variant& variant) {
    {
      std::shared_lock lock(mutex_);
      if (auto found = kernels_.find(variant); found != kernels_.end()) {
        return *found->second;
      }
    }
    const hal::Kernel& kernel =
        device().compile(wgsl::assemble(describe_(variant)));
    std::unique_lock lock(mutex_);
    kernels_.emplace(variant, &kernel);
    return kernel;
  }

 private:
  static std::string_view bytes(const Variant& variant) {
    return {reinterpret_cast<const char*>(&variant), sizeof(Variant)};
  }
  static std::string serialise(const Variant& variant) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const unsigned char c : bytes(variant)) {
      text += kDigits[c >> 4];
      text += kDigits[c & 15];
    }
    return text;
  }
  struct Hash {
    size_t operator()(const Variant& v) const {
      return std::hash<std::string_view>()(bytes(v));
    }
  };
  struct Equal {
    bool operator()(const Variant& a, const Variant& b) const {
      return std::memcmp(&a, &b, sizeof(Variant)) == 0;
    }
  };

  Describe describe_;
  std::shared_mutex mutex_;
  std::unordered_map<Variant, const hal::Kernel*, Hash, Equal> kernels_;
};

}  // namespace torch_webgpu::ops
