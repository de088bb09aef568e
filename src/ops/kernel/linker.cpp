#include "ops/kernel/linker.h"

#include <c10/util/Exception.h>

#include <deque>

#include "ops/kernel/embedded.h"

namespace torch_webgpu::wgsl {
namespace {

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

}  // namespace

std::string replace_all(std::string text, std::string_view from,
                        std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

Linker::Linker(Compute compute) {
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

void Linker::add(std::string name, std::string text) {
  own_.insert_or_assign(std::move(name), std::move(text));
}

void Linker::add_storage(const Operand& operand) {
  const std::string module = std::string("storage/") + name_of(operand.dtype);
  for (const auto& d : declarations()) {
    if (d.module == module) {
      add(replace_all(std::string(d.name), "{{name}}", operand.name),
          replace_all(std::string(d.text), "{{name}}", operand.name));
    }
  }
}

std::string Linker::link(const std::string& text) const {
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

}  // namespace torch_webgpu::wgsl
