#pragma once

#include <cstdint>

namespace torch_webgpu::ops {

// What a kernel's shape depends on: each family has one function that chooses a
// variant from this and the problem's shape, and no constants elsewhere.
//
// Made once from the adapter; TORCH_WEBGPU_PROFILE=cpu|gpu overrides the kind,
// so that tests run the kernels of real GPUs on a CPU adapter.
struct Profile {
  enum class Kind : uint8_t { Cpu, Gpu };
  Kind kind = Kind::Gpu;
  uint32_t lanes = 0;  // of a subgroup; 0 if there is none, or of several sizes
  // Kernels that treat elements one by one:
  uint16_t workgroup = 256;
  // Rounds of a workgroup's loop, once there are enough workgroups: on a CPU,
  // beginning a thread costs more than the loop.
  uint32_t enough_workgroups = 1024;
  uint32_t max_rounds = 4;

  // Rounds of each workgroup, for `items` of a thread's round in all.
  uint32_t rounds(uint64_t items) const;
};

const Profile& profile();

}  // namespace torch_webgpu::ops
