#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hal/kernel.h"

namespace torch_webgpu::ops {

// One specialisation that the library can produce.
struct ListedKernel {
  std::string name;  // the label
  std::string key;   // the variant struct, serialised
  hal::ShaderSource source;
};

// Every specialisation of every family, for offline validation.
std::vector<ListedKernel> list_kernels();

// Called once per family, at load time.
using Lister = std::function<void(std::vector<ListedKernel>&)>;
void register_family(Lister);

// TORCH_WEBGPU_CHECK_LISTED=1, as the tests set it: a kernel that is compiled
// but not represented in its family's list is an error.
bool checks_listed();

}  // namespace torch_webgpu::ops
