#include "ops/kernel/profile.h"

#include <c10/util/Exception.h>

#include <algorithm>
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
    made.enough_workgroups = 16;
    made.max_rounds = 256;
  }
  return made;
}

}  // namespace

uint32_t Profile::rounds(uint64_t items) const {
  const uint64_t each = items / (uint64_t(workgroup) * enough_workgroups);
  return uint32_t(std::clamp<uint64_t>(each, 1, max_rounds));
}

const Profile& profile() {
  static const Profile made = make_profile();
  return made;
}

}  // namespace torch_webgpu::ops
