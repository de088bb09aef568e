#include "ops/kernel/registry.h"

#include <cstdlib>
#include <string_view>

namespace torch_webgpu::ops {
namespace {

std::vector<Lister>& listers() {
  static auto* all = new std::vector<Lister>;
  return *all;
}

}  // namespace

void register_family(Lister lister) {
  listers().push_back(std::move(lister));
}

std::vector<ListedKernel> list_kernels() {
  std::vector<ListedKernel> all;
  for (const auto& lister : listers())
    lister(all);
  return all;
}

bool checks_listed() {
  static const bool on = [] {
    const char* asked = std::getenv("TORCH_WEBGPU_CHECK_LISTED");
    return asked != nullptr && std::string_view(asked) == "1";
  }();
  return on;
}

}  // namespace torch_webgpu::ops
