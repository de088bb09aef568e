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
// Where variants multiply, the list holds representatives: a variant is
// validated by the listed one that its family's `representative` names for it.
// Two things are so in every family. The fields of operands that may be bound
// in windows, named in kWindows, are listed as all one and as all two; more
// windows only repeat the second one's lines. A field `workgroup` is listed as
// kListedWorkgroup; other sizes only change that number.
inline constexpr uint16_t kListedWorkgroup = 64;

template <class Variant>
class Family {
  // No padding: equal variants have equal bytes.
  static_assert(std::is_trivially_copyable_v<Variant> &&
                std::has_unique_object_representations_v<Variant>);

 public:
  using Describe = wgsl::KernelText (*)(const Variant&);
  using Enumerate = std::vector<Variant> (*)();
  using Representative = Variant (*)(Variant);

  Family(Describe describe, Enumerate enumerate,
         Representative representative = nullptr)
      : describe_(describe),
        enumerate_(enumerate),
        representative_(representative) {
    register_family([this](std::vector<ListedKernel>& all) {
      for (const Variant& variant : listed()) {
        auto source = wgsl::assemble(describe_(variant));
        all.push_back({source.label, serialise(variant), std::move(source)});
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
    if (checks_listed()) check_listed(variant);
    const hal::Kernel& kernel =
        device().compile(wgsl::assemble(describe_(variant)));
    std::unique_lock lock(mutex_);
    kernels_.emplace(variant, &kernel);
    return kernel;
  }

 private:
  std::vector<Variant> listed() const {
    std::vector<Variant> all = enumerate_();
    if constexpr (requires { Variant::kWindows; }) {
      const size_t small = all.size();
      for (size_t i = 0; i < small; ++i) {
        Variant large = all[i];
        set_windows(large, 2);
        all.push_back(large);
      }
    }
    return all;
  }

  static void set_windows(Variant& variant, uint8_t count) {
    for (const auto windows : Variant::kWindows)
      variant.*windows = count;
  }

  // Builds the whole list for one kernel: for tests.
  void check_listed(const Variant& variant) const {
    Variant stands = representative_ ? representative_(variant) : variant;
    if constexpr (requires { stands.workgroup; }) {
      stands.workgroup = kListedWorkgroup;
    }
    if constexpr (requires { Variant::kWindows; }) {
      bool large = false;
      for (const auto windows : Variant::kWindows)
        large = large || stands.*windows > 1;
      set_windows(stands, large ? 2 : 1);
    }
    for (const Variant& one : listed()) {
      if (Equal()(one, stands)) return;
    }
    TORCH_INTERNAL_ASSERT(false, describe_(variant).label, " (",
                          serialise(variant), ") is represented by ",
                          serialise(stands), ", which is not listed");
  }

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
  Enumerate enumerate_;
  Representative representative_;
  std::shared_mutex mutex_;
  std::unordered_map<Variant, const hal::Kernel*, Hash, Equal> kernels_;
};

}  // namespace torch_webgpu::ops
