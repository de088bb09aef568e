#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ops/kernel/operand.h"

namespace torch_webgpu::wgsl {

std::string replace_all(std::string text, std::string_view from,
                        std::string_view to);

// The pieces from which a kernel may draw, by name: wgsl/lib, the generic
// functions of one compute type, and what is added for one kernel.
class Linker {
 public:
  explicit Linker(Compute compute);

  void add(std::string name, std::string text);
  // The storage functions of the operand's dtype.
  void add_storage(const Operand& operand);
  // `text` and, before it, all that it needs, in a stable order.
  std::string link(const std::string& text) const;

 private:
  const std::unordered_map<std::string_view, std::string_view>* library_;
  std::map<std::string, std::string> own_;
};

}  // namespace torch_webgpu::wgsl
