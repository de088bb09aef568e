#include "ops/runtime/faults.h"

#include <c10/util/Exception.h>

#include <bit>
#include <mutex>
#include <string_view>
#include <vector>

namespace torch_webgpu::ops {
namespace {

struct Entry {
  const char* op;
  FaultKind kind;
};

// A code is a place in `entries` plus one, as zero means no report.
struct Table {
  std::mutex mutex;
  std::vector<Entry> entries;
};

// Leaked: a report may come as late as the last readback.
Table& table() {
  static Table* table = new Table;
  return *table;
}

Entry entry_of(uint32_t code) {
  const std::lock_guard lock(table().mutex);
  const auto& entries = table().entries;
  TORCH_INTERNAL_ASSERT(code >= 1 && code <= entries.size());
  return entries[code - 1];
}

constexpr const char* kEarlier =
    "; found by an earlier call, whose result is of no use.";

}  // namespace

uint32_t fault_code(const char* op, FaultKind kind) {
  const std::lock_guard lock(table().mutex);
  auto& entries = table().entries;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (std::string_view(entries[i].op) == op && entries[i].kind == kind)
      return uint32_t(i + 1);
  }
  entries.push_back({op, kind});
  return uint32_t(entries.size());
}

void raise_fault(const hal::Fault& fault) {
  // See report_outside in wgsl/lib/index.wgsl.
  constexpr uint32_t kTaken = 0x80000000u;
  const auto [op, kind] = entry_of(fault.code & ~kTaken);
  TORCH_CHECK_INDEX(kind != FaultKind::Index, "webgpu: ", op, ": index ",
                    fault.value, " is out of bounds for a dimension with size ",
                    fault.bound, kEarlier);
  TORCH_CHECK(false, "webgpu: ", op, ": the probability ",
              std::bit_cast<float>(uint32_t(fault.value)),
              " is not between 0 and 1", kEarlier);
}

}  // namespace torch_webgpu::ops
