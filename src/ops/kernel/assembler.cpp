#include "ops/kernel/assembler.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "ops/kernel/embedded.h"

namespace torch_webgpu::wgsl {
namespace {

using Substitutions = std::vector<std::pair<std::string, std::string>>;

bool is_word(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

template <class F>
void for_each_identifier(std::string_view text, F&& f) {
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (is_word(text[i])) {
      size_t end = i;
      while (end < text.size() && is_word(text[end]))
        ++end;
      f(text.substr(i, end - i));
      i = end;
    } else {
      ++i;
    }
  }
}

std::string replace_all(std::string text, std::string_view from,
                        std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

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

std::string_view find_template(const std::string& name) {
  for (const auto& entry : templates()) {
    if (entry.name == name) return entry.text;
  }
  TORCH_INTERNAL_ASSERT(false, "no wgsl/", name, ".wgsl");
}

// The pieces from which a kernel may draw, by name.
class Linker {
 public:
  explicit Linker(Compute compute) {
    static const auto* common = [] {
      auto* map = new std::unordered_map<std::string_view, std::string_view>;
      for (const auto& d : declarations()) {
        if (d.module.starts_with("lib/") && !d.module.starts_with("lib/t_")) {
          TORCH_INTERNAL_ASSERT(map->emplace(d.name, d.text).second,
                                "declared twice in wgsl/lib: ", d.name);
        }
      }
      return map;
    }();
    library_ = common;
    const std::string generic = std::string("lib/t_") + name_of(compute);
    for (const auto& d : declarations()) {
      if (d.module == generic) own_.emplace(d.name, d.text);
    }
  }

  void add(std::string name, std::string text) {
    own_.insert_or_assign(std::move(name), std::move(text));
  }

  void add_storage(const Operand& operand) {
    const std::string module = std::string("storage/") + name_of(operand.dtype);
    for (const auto& d : declarations()) {
      if (d.module == module) {
        add(replace_all(std::string(d.name), "{{name}}", operand.name),
            replace_all(std::string(d.text), "{{name}}", operand.name));
      }
    }
  }

  // `text` and, before it, all that it needs, in a stable order.
  std::string link(const std::string& text) const {
    std::map<std::string, std::string_view> needed;
    std::deque<std::string_view> queue{text};
    while (!queue.empty()) {
      const std::string_view next = queue.front();
      queue.pop_front();
      for_each_identifier(next, [&](std::string_view word) {
        const std::string name(word);
        if (needed.contains(name)) return;
        std::string_view found;
        if (auto own = own_.find(name); own != own_.end()) {
          found = own->second;
        } else if (auto lib = library_->find(word); lib != library_->end()) {
          found = lib->second;
        } else {
          return;
        }
        needed.emplace(name, found);
        queue.push_back(found);
      });
    }
    std::string result;
    for (const auto& [name, declaration] : needed)
      result += declaration;
    return result + text;
  }

 private:
  const std::unordered_map<std::string_view, std::string_view>* library_;
  std::map<std::string, std::string> own_;
};

// One accessor over a buffer that is bound whole or in windows; {} is the
// place of the word.
std::string over_windows(const Operand& operand, const std::string& head,
                         const std::string& statement) {
  const std::string& name = operand.name;
  const auto at = [&](const std::string& place) {
    return replace_all(statement, "{}", place);
  };
  if (operand.windows == 1) {
    return fmt::format("{} {{\n  {}\n}}\n", head,
                       at("words_" + name + "_0[i]"));
  }
  std::string text =
      fmt::format("{} {{\n  let at = i & {}u;\n  switch i >> {}u {{\n", head,
                  (1u << kWindowShift) - 1, kWindowShift);
  for (uint32_t w = 0; w + 1 < operand.windows; ++w) {
    text += fmt::format("    case {}u: {{\n      {}\n    }}\n", w,
                        at(fmt::format("words_{}_{}[at]", name, w)));
  }
  text += fmt::format(
      "    default: {{\n      {}\n    }}\n  }}\n}}\n",
      at(fmt::format("words_{}_{}[at]", name, operand.windows - 1)));
  return text;
}

void add_accessors(Linker& linker, const Operand& operand) {
  const std::string& name = operand.name;
  linker.add("lanes_" + name, fmt::format("const lanes_{} = {}u;\n", name,
                                          lanes_of(operand.dtype)));
  const auto read_head = fmt::format("fn read_{}(i: u32) -> u32", name);
  const auto write_head = fmt::format("fn write_{}(i: u32, value: u32)", name);
  const auto add = [&](const std::string& function, const std::string& head,
                       const std::string& statement) {
    linker.add(function, over_windows(operand, head, statement));
  };
  switch (operand.mode) {
    case Mode::Read:
      add("read_" + name, read_head, "return {};");
      break;
    case Mode::Write:
      add("read_" + name, read_head, "return {};");
      add("write_" + name, write_head, "{} = value;");
      break;
    case Mode::Scatter: {
      add("read_" + name, read_head, "return atomicLoad(&{});");
      add("write_" + name, write_head, "atomicStore(&{}, value);");
      constexpr std::pair<const char*, const char*> kAtomics[] = {
          {"add", "atomicAdd"}, {"or", "atomicOr"}, {"and", "atomicAnd"}};
      for (const auto& [short_name, builtin] : kAtomics) {
        const auto function = fmt::format("atomic_{}_{}", short_name, name);
        add(function, fmt::format("fn {}(i: u32, value: u32) -> u32", function),
            fmt::format("return {}(&{{}}, value);", builtin));
      }
      const auto swap = "atomic_swap_" + name;
      add(swap,
          fmt::format("fn {}(i: u32, expected: u32, value: u32) -> bool", swap),
          "return atomicCompareExchangeWeak(&{}, expected, value).exchanged;");
      break;
    }
    case Mode::Shared:
      linker.add("read_" + name,
                 fmt::format("{} {{\n  return read_{}(i);\n}}\n", read_head,
                             operand.shared_with));
      break;
    case Mode::Scalar: {
      const auto compute = compute_of(operand.dtype);
      const std::string value = compute == Compute::I64
                                    ? fmt::format("p.value_{}", name)
                                    : fmt::format("bitcast<{}>(p.value_{}.x)",
                                                  name_of(compute), name);
      linker.add("load_" + name,
                 fmt::format("fn load_{}(i: u32) -> {} {{\n  return {};\n}}\n",
                             name, name_of(compute), value));
      return;
    }
    case Mode::Absent:
      return;
  }
  linker.add_storage(operand);
}

}  // namespace

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
    add_accessors(linker, operand);
    if (operand.mode != Mode::Read && operand.mode != Mode::Write &&
        operand.mode != Mode::Scatter) {
      continue;
    }
    const bool read = operand.mode == Mode::Read;
    for (uint32_t w = 0; w < operand.windows; ++w) {
      head += fmt::format(
          "@group(0) @binding({}) var<storage, {}> words_{}_{}: array<{}>;\n",
          source.bindings.size(), read ? "read" : "read_write", operand.name, w,
          operand.mode == Mode::Scatter ? "atomic<u32>" : "u32");
      source.bindings.push_back(read ? hal::Access::Read
                                     : hal::Access::ReadWrite);
    }
  }
  if (source.has_params) {
    head += kernel.params + "@group(1) @binding(0) var<uniform> p: Params;\n";
  }
  auto text = repeat_lines(find_template(kernel.file), kernel.repeat);
  source.wgsl = head + linker.link(substitute(text, kernel.substitutions));
  return source;
}

}  // namespace torch_webgpu::wgsl
