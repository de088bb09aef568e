#include "hal/implementation.h"

#include <string>

#include "hal/errors.h"

namespace torch_webgpu::hal {

ImplementationKind parse_implementation(std::string_view name) {
  if (name == "wgpu") return ImplementationKind::Wgpu;
  if (name == "dawn") return ImplementationKind::Dawn;
  throw Unavailable("unknown WebGPU implementation \"" + std::string(name) +
                    "\"; set TORCH_WEBGPU_IMPL to \"wgpu\" or \"dawn\".");
}

std::unique_ptr<Implementation> Implementation::create(
    ImplementationKind kind, const ProcSource& source) {
  return kind == ImplementationKind::Wgpu ? make_wgpu(source)
                                          : make_dawn(source);
}

}  // namespace torch_webgpu::hal
