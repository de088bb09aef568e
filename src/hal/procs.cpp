#include "hal/procs.h"

#include <dlfcn.h>

#include <utility>

#include "hal/errors.h"

namespace torch_webgpu::hal {

ProcLoader::ProcLoader(const ProcSource& source, std::string product,
                       std::string remedy)
    : product_(std::move(product)), remedy_(std::move(remedy)) {
  if (source.get_proc_address != nullptr) {
    source_ = "its wgpuGetProcAddress";
    get_proc_address_ =
        reinterpret_cast<WGPUProc (*)(WGPUStringView)>(source.get_proc_address);
    return;
  }
  if (source.library.empty()) {
    throw Unavailable(product_ + " was not found; " + remedy_ + ".");
  }
  source_ = "\"" + source.library + "\"";
  handle_ = dlopen(source.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* why = dlerror();
    throw Unavailable(product_ + " cannot be loaded from " + source_ + " (" +
                      (why != nullptr ? why : "unknown reason") + "); " +
                      remedy_ + ".");
  }
}

void* ProcLoader::optional(const char* name) const noexcept {
  if (get_proc_address_ != nullptr) {
    return reinterpret_cast<void*>(get_proc_address_(view(name)));
  }
  return dlsym(handle_, name);
}

void* ProcLoader::required(const char* name) const {
  void* proc = optional(name);
  if (proc == nullptr) {
    throw Unavailable(product_ + " cannot be used: " + source_ +
                      " does not provide " + name + "; " + remedy_ + ".");
  }
  return proc;
}

Procs ProcLoader::load() const {
  Procs procs;
#define X(name) \
  procs.name = reinterpret_cast<decltype(procs.name)>(required("wgpu" #name));
  TORCH_WEBGPU_PROCS(X)
#undef X
  return procs;
}

std::string to_string(WGPUStringView text) {
  if (text.data == nullptr) return {};
  if (text.length == WGPU_STRLEN) return text.data;
  return std::string(text.data, text.length);
}

}  // namespace torch_webgpu::hal
