#include "ops/kernel/profile.h"

#include <c10/util/Exception.h>

#include <cstdlib>
#include <string_view>

#include "hal/device.h"
#include "ops/runtime/runtime.h"
#include "ops/runtime/subgroups.h"

namespace torch_webgpu::ops {
namespace {

Profile::Kind choose_kind() {
  const char* asked = std::getenv("TORCH_WEBGPU_PROFILE");
  const std::string_view name = asked != nullptr ? asked : "";
  if (name == "cpu") return Profile::Kind::Cpu;
  if (name == "gpu") return Profile::Kind::Gpu;
  TORCH_CHECK(name.empty(), "TORCH_WEBGPU_PROFILE=", name,
              " is unknown: set it to cpu or gpu, or leave it out");
  return device().info().adapter_type == "cpu" ? Profile::Kind::Cpu
                                               : Profile::Kind::Gpu;
}

Profile make_profile() {
  Profile made;
  made.kind = choose_kind();
  made.lanes = subgroup_lanes();
  if (made.kind == Profile::Kind::Cpu) {
    made.workgroup = 64;
    made.blocked = true;
  }
  return made;
}

}  // namespace

const Profile& profile() {
  static const Profile made = make_profile();
  return made;
}

}  // namespace torch_webgpu::ops
