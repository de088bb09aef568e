#include "ops/kernel/registry.h"

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

}  // namespace torch_webgpu::ops
