// Which pointwise kernels there are.
#include "ops/pointwise/pointwise_kernel.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "ops/kernel/linker.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::Compute;
using wgsl::DType;
using wgsl::Mode;

// The modes of the inputs that a plan can have.
std::vector<std::array<Mode, kMaxPointwiseInputs>> modes_of(
    const PointwiseOp& op) {
  constexpr auto R = Mode::Read, I = Mode::Shared, S = Mode::Scalar,
                 N = Mode::Absent;
  if (op.inputs == 1) {
    if (op.casts) return {{R, N, N}, {S, N, N}};
    return {{R, N, N}, {I, N, N}};
  }
  if (op.mask == 1 && op.inputs == 2) return {{R, R, N}, {I, R, N}};
  if (op.inputs == 2) {
    return {{R, R, N}, {R, S, N}, {S, R, N}, {I, R, N}, {I, S, N}, {I, I, N}};
  }
  std::vector<std::array<Mode, kMaxPointwiseInputs>> all;
  for (const Mode a : {R, I}) {
    if (op.mask == 0 && a == I) continue;  // a mask is never the output
    for (const Mode b : {R, S}) {
      if (op.mask == 1 && b == S) continue;
      for (const Mode c : {R, S})
        all.push_back({a, b, c});
    }
  }
  return all;
}

// Whether the output is the only operand that stands in a buffer.
bool none_bound(const std::array<Mode, kMaxPointwiseInputs>& modes) {
  return std::ranges::all_of(modes, [](Mode mode) {
    return mode == Mode::Scalar || mode == Mode::Absent;
  });
}

// Every operator with every dtype and mode, walked and dense, element by
// element and in chunks; how chunks are reached does not depend on the
// operator, so that is listed for the copy alone.
std::vector<PointwiseVariant> enumerate() {
  std::vector<PointwiseVariant> all;
  for (OpId id = 0; pointwise_has(id); ++id) {
    const PointwiseOp& op = pointwise_op(id);
    for (const DType dtype : op.dtypes) {
      for (const DType in : wgsl::kAllDTypes) {
        if (in != dtype && !op.casts) continue;
        if (pointwise_kernel_dtype(op, dtype) != dtype) continue;
        for (const auto& modes : modes_of(op)) {
          if (modes[0] == Mode::Scalar && op.inputs == 1 && in != dtype) {
            continue;
          }
          // An input is the output itself only if its elements are as wide.
          if (std::ranges::count(modes, Mode::Shared) > 0 &&
              wgsl::unit_of(in) != wgsl::unit_of(pointwise_output(op, dtype)))
            continue;
          const auto list = [&](Form form, Access a, Access o) {
            const bool walked = a != Access::Dense || o != Access::Dense;
            const bool reads = o == Access::Dense || form == Form::Rows;
            if (walked && reads && none_bound(modes)) return;
            all.push_back({id,
                           form,
                           64,
                           uint8_t(dtype),
                           uint8_t(in),
                           uint8_t(walked ? 2 : 0),
                           o,
                           {a, a, a},
                           modes});
          };
          list(Form::Element, Access::Dense, Access::Dense);
          list(Form::Element, Access::Walked, Access::Dense);
          if (is_heavy(id, wgsl::compute_of(dtype))) continue;
          list(Form::Chunk, Access::Dense, Access::Dense);
          if (!op.casts) continue;
          list(Form::Chunk, Access::Walked, Access::Walked);
          for (const Access a :
               {Access::Walked, Access::Splat, Access::Gather}) {
            list(Form::Chunk, a, Access::Dense);
          }
          for (const Access a :
               {Access::Walked, Access::Splat, Access::Gather, Access::Still}) {
            list(Form::Rows, a, Access::Walked);
          }
        }
      }
    }
  }
  return all;
}

PointwiseVariant representative(PointwiseVariant v) {
  if (v.form != Form::Element && !pointwise_op(v.op).casts) {
    v.form = Form::Chunk;
    v.rank = 0;
    v.access_o = Access::Dense;
    v.access.fill(Access::Dense);
    return v;
  }
  if (v.rank == 0) return v;
  v.rank = 2;
  // Operands are reached alike, whatever the others.
  if (v.form == Form::Element) {
    v.access.fill(Access::Walked);
  } else if (v.form == Form::Chunk && v.access_o == Access::Walked) {
    v.access.fill(Access::Walked);
  } else {
    v.access.fill(*std::ranges::max_element(v.access));
  }
  return v;
}

}  // namespace

Family<PointwiseVariant>& pointwise_family() {
  static Family<PointwiseVariant> family(describe_pointwise, enumerate,
                                         representative);
  return family;
}

namespace {
// Families are listed from load time on.
[[maybe_unused]] const auto& kListed = pointwise_family();
}  // namespace

DType pointwise_output(const PointwiseOp& op, DType dtype) {
  return op.result == Result::Predicate ? DType::Bool : dtype;
}

DType pointwise_kernel_dtype(const PointwiseOp& op, DType dtype) {
  const bool byte = op.result == Result::Predicate && dtype == DType::Bool;
  return byte ? DType::U8 : dtype;
}

uint32_t chunk_size(const PointwiseOp& op, DType in, DType out) {
  uint32_t size = std::max({4u, wgsl::unit_of(in), wgsl::unit_of(out)});
  if (op.mask >= 0) size = std::max(size, wgsl::unit_of(DType::Bool));
  return size;
}

bool is_heavy(OpId id, Compute compute) {
  // The text that an expression draws from wgsl/lib, in characters.
  constexpr size_t kHeavy = 3000;
  static std::mutex mutex;
  static auto* known = new std::map<std::pair<OpId, Compute>, bool>;
  const std::lock_guard lock(mutex);
  const auto [entry, added] = known->try_emplace({id, compute}, false);
  if (added) {
    const std::string expression = pointwise_op(id).expression;
    const auto linked = wgsl::Linker(compute).link(expression);
    entry->second = linked.size() - expression.size() > kHeavy;
  }
  return entry->second;
}

}  // namespace torch_webgpu::ops
