#pragma once

#include <string_view>
#include <vector>

// What wgsl/embed.py makes of wgsl/ at build time.
namespace torch_webgpu::wgsl {

// One top-level declaration of wgsl/lib or wgsl/storage. In storage files the
// name and the text hold {{name}}, to be filled with an operand's name.
struct Declaration {
  std::string_view module;  // "lib/math", "storage/f16"
  std::string_view name;
  std::string_view text;
};

struct Template {
  std::string_view name;  // the file's stem
  std::string_view text;
};

const std::vector<Declaration>& declarations();
const std::vector<Template>& templates();

}  // namespace torch_webgpu::wgsl
