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
  uint8_t thread_bytes = 64;  // of the widest operand, for a thread
  // On a CPU a thread's elements lie side by side, which its caches like; on a
  // GPU those of neighbouring threads do, so that their loads are one.
  bool blocked = false;
};

const Profile& profile();

}  // namespace torch_webgpu::ops
