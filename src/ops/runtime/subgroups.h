#pragma once

#include <cstdint>

namespace torch_webgpu::ops {

// The lanes of every subgroup, or 0 when the device has no subgroups or their
// size may differ between kernels.
uint32_t subgroup_lanes();

}  // namespace torch_webgpu::ops
