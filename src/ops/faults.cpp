#include "ops/faults.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <mutex>
#include <string_view>
#include <vector>

namespace torch_webgpu::ops {
namespace {

// A code is a place in `names` plus one, as zero means no report.
struct Names {
  std::mutex mutex;
  std::vector<const char*> names;
};

// Leaked: a report may come as late as the last readback.
Names& table() {
  static Names* table = new Names;
  return *table;
}

}  // namespace

uint32_t fault_code(const char* op) {
  const std::lock_guard lock(table().mutex);
  auto& names = table().names;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::string_view(names[i]) == op) return uint32_t(i + 1);
  }
  names.push_back(op);
  return uint32_t(names.size());
}

std::string describe_fault(const hal::Fault& fault) {
  const std::lock_guard lock(table().mutex);
  const auto& names = table().names;
  TORCH_INTERNAL_ASSERT(fault.code >= 1 && fault.code <= names.size());
  return fmt::format(
      "webgpu: {}: index {} is out of bounds for a dimension with size {}; "
      "found by an earlier call, whose result is of no use.",
      names[fault.code - 1], fault.value, fault.bound);
}

}  // namespace torch_webgpu::ops
