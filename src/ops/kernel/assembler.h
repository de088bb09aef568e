#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hal/kernel.h"
#include "ops/kernel/dtype.h"

namespace torch_webgpu::wgsl {

// How a kernel sees one operand, by its name `a`:
//   load_a(i) -> f32 | i32 | u32 | i64   element i of the storage
//   store_a(i, value)     by the one thread that owns the element's word
//   scatter_a(i, value)   by any thread (Mode::Scatter only)
//   read_a(word), write_a(word, u32)     raw words
//   atomic_add_a / _or_a / _and_a(word, u32) -> old (Mode::Scatter only)
//   atomic_swap_a(word, expected, u32) -> bool: exchanged (the exchange may
//   fail though the word is as expected: repeat it)
//   lanes_a: elements of one word (a const u32)
enum class Mode : uint8_t {
  Absent,   // no operand
  Read,     // a binding of its own
  Write,    // a binding of its own, read and write
  Scatter,  // the same, words are atomic
  Shared,   // the same buffer as an earlier operand: reads go there
  Scalar,   // no buffer: load_a(i) is the parameter p.value_a (a u64)
};

struct Operand {
  std::string name;
  DType dtype;
  Mode mode = Mode::Read;
  uint32_t windows = 1;     // bindings that the buffer needs; see Launch
  std::string shared_with;  // for Mode::Shared
};

// Everything that a kernel's text depends on. The assembler adds, from
// wgsl/lib, the declarations that the text uses, and only those.
struct KernelText {
  std::string label;
  std::string file;  // stem in wgsl/
  std::vector<Operand> operands;
  // Replaces {{key}} in the file; an unknown or unused key is an error. A line
  // with {{it}} is repeated for each of `repeat`.
  std::vector<std::pair<std::string, std::string>> substitutions;
  std::vector<std::string> repeat;
  Compute compute = Compute::F32;  // which wgsl/lib/t_*.wgsl `T` comes from
  std::string params;              // Params::wgsl(); "" for none
  bool subgroups = false;
};

hal::ShaderSource assemble(const KernelText&);

// Fills {{key}} of one text: for expressions inside substitutions.
std::string substitute(std::string_view text,
                       const std::vector<std::pair<std::string, std::string>>&);

// Words of one binding when a buffer is bound in windows. A power of two, so
// that a kernel finds the window by a shift.
inline constexpr uint32_t kWindowShift = 25;  // 2^25 words = 128 MiB
inline constexpr uint64_t kWindowBytes = uint64_t{4} << kWindowShift;

}  // namespace torch_webgpu::wgsl
