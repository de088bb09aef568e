#include "ops/kernel/assembler.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "ops/kernel/embedded.h"

namespace torch_webgpu::wgsl {
namespace {

using Substitutions = std::vector<std::pair<std::string, std::string>>;

std::string repeat_lines(std::string_view text,
                         const std::vector<std::string>& names) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line(text.substr(at, end - at));
    if (line.find("{{it}}") == std::string::npos) {
      result += line;
    } else {
      for (const auto& name : names) {
        result += replace_all(line, "{{it}}", name);
      }
    }
    at = end;
  }
  return result;
}

}  // namespace

std::string_view embedded(const std::string& stem) {
  for (const auto& entry : templates()) {
    if (entry.name == stem) return entry.text;
  }
  TORCH_INTERNAL_ASSERT(false, "no wgsl/**/", stem, ".wgsl");
}

std::string substitute(std::string_view text, const Substitutions& values) {
  std::string result(text);
  for (const auto& [key, value] : values) {
    const std::string place = "{{" + key + "}}";
    TORCH_INTERNAL_ASSERT(result.find(place) != std::string::npos,
                          "substitution ", key, " is not used");
    result = replace_all(std::move(result), place, value);
  }
  const auto left = result.find("{{");
  TORCH_INTERNAL_ASSERT(left == std::string::npos, "no value for ",
                        result.substr(left, 40));
  return result;
}

hal::ShaderSource assemble(const KernelText& kernel) {
  hal::ShaderSource source;
  source.label = kernel.label;
  source.has_params = !kernel.params.empty();
  source.subgroups = kernel.subgroups;
  source.deferrable = true;  // tests compile all that the library can produce
  std::string head;
  Linker linker(kernel.compute);
  for (const Operand& operand : kernel.operands) {
    add_accessors(linker, operand, kernel.chunk);
    if (operand.mode != Mode::Read && operand.mode != Mode::Write &&
        operand.mode != Mode::Scatter) {
      continue;
    }
    const bool read = operand.mode == Mode::Read;
    for (uint32_t w = 0; w < operand.windows; ++w) {
      head += fmt::format(
          "@group(0) @binding({}) var<storage, {}> words_{}_{}: array<{}>;\n",
          source.bindings.size(), read ? "read" : "read_write", operand.name, w,
          binding_type(operand));
      source.bindings.push_back(read ? hal::Access::Read
                                     : hal::Access::ReadWrite);
    }
  }
  for (const WalkText& walk : kernel.walks)
    add_walk(linker, walk);
  for (const auto& [name, function] : kernel.hooks)
    linker.add(name, function);
  if (source.has_params) {
    head += kernel.params + "@group(1) @binding(0) var<uniform> p: Params;\n";
  }
  auto text = repeat_lines(
      kernel.text.empty() ? embedded(kernel.file) : kernel.text, kernel.repeat);
  source.wgsl = linker.link(head + substitute(text, kernel.substitutions));
  return source;
}

}  // namespace torch_webgpu::wgsl
