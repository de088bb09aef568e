#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hal/kernel.h"
#include "ops/kernel/accessors.h"

namespace torch_webgpu::wgsl {

// Everything that a kernel's text depends on. The assembler adds, from
// wgsl/lib, the declarations that the text uses, and only those.
struct KernelText {
  std::string label;
  std::string file;  // stem in wgsl/, unless `text` is given
  std::string text;  // the kernel itself, from a generator
  std::vector<Operand> operands;
  uint32_t chunk = 0;  // elements, for operands of Width::Chunk
  // A walk `at` over operands a, b finds elements by the sizes of the parameter
  // p.at (a Walk) and the strides p.at_a, p.at_b (u32x8): at_a(e), and
  // at_all(e).a, .b for all of them at the price of one.
  std::vector<WalkText> walks;
  // Replaces {{key}} in the file; an unknown or unused key is an error. A line
  // with {{it}} is repeated for each of `repeat`.
  std::vector<std::pair<std::string, std::string>> substitutions;
  std::vector<std::string> repeat;
  // Functions that the text and wgsl/lib call by a name (`matmul_bias`) and the
  // operator gives: what happens to elements on their way in or out. A hook
  // that nothing calls is left out.
  std::vector<std::pair<std::string, std::string>> hooks;
  Compute compute = Compute::F32;  // which wgsl/lib/t_*.wgsl `T` comes from
  std::string params;              // Params::wgsl(); "" for none
  bool subgroups = false;
};

hal::ShaderSource assemble(const KernelText&);

// The text of a file in wgsl/, by its stem.
std::string_view embedded(const std::string& stem);

// Fills {{key}} of one text: for what is itself a substitution.
std::string substitute(std::string_view text,
                       const std::vector<std::pair<std::string, std::string>>&);

// Words of one binding when a buffer is bound in windows. A power of two, so
// that a kernel finds the window by a shift.
inline constexpr uint32_t kWindowShift = 25;  // 2^25 words = 128 MiB
inline constexpr uint64_t kWindowBytes = uint64_t{4} << kWindowShift;

}  // namespace torch_webgpu::wgsl
