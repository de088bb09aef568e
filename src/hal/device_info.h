#pragma once

#include <cstdint>
#include <string>

namespace torch_webgpu::hal {

struct Limits {
  uint64_t max_buffer_size = 0;           // rounded down to a multiple of 16
  uint64_t max_storage_binding_size = 0;  // rounded down to a multiple of 16
  uint32_t max_storage_buffers = 0;       // per shader stage
  uint32_t max_workgroups_per_dimension = 0;
  uint32_t max_workgroup_invocations = 0;
  uint32_t max_workgroup_size_x = 0;
  uint32_t max_workgroup_size_y = 0;
  uint32_t max_workgroup_size_z = 0;
  uint32_t max_workgroup_storage = 0;  // bytes
  uint32_t storage_offset_alignment = 256;
  uint32_t uniform_offset_alignment = 256;
};

struct DeviceInfo {
  std::string implementation;  // "wgpu" or "dawn"
  std::string name;
  std::string vendor;
  std::string architecture;
  std::string description;
  std::string backend;       // "Vulkan", "Metal", "D3D12" …
  std::string adapter_type;  // "cpu", "discrete", "integrated", "unknown"
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  uint32_t subgroup_min = 0;  // 0 = not told (wgpu-native 29)
  uint32_t subgroup_max = 0;
  bool shader_f16 = false;
  bool subgroups = false;
  bool timestamps = false;
  Limits limits;
};

// Counts since the Device was made.
struct Stats {
  uint64_t dispatches = 0;
  uint64_t submits = 0;
  uint64_t pipelines_created = 0;
  uint64_t bind_groups_created = 0;
  uint64_t buffers_created = 0;  // staging and parameter buffers included
  uint64_t shader_modules_created = 0;
  uint64_t copies = 0;  // clears included
  uint64_t writes = 0;
  uint64_t readbacks = 0;
  uint64_t waits = 0;
  uint64_t cache_loads = 0;  // compiled shaders found on disk
  uint64_t cache_stores = 0;
};

}  // namespace torch_webgpu::hal
