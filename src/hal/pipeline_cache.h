#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "hal/kernel.h"

namespace torch_webgpu::hal {

struct Context;

// Shader modules, layouts and pipelines. The Device's lock is held for every
// call; nothing is dropped before the Device.
class PipelineCache {
 public:
  explicit PipelineCache(Context& context);
  ~PipelineCache();
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  const Kernel& get(const ShaderSource& source);  // throws ShaderError
  // Group 1 of every kernel with parameters: one uniform with a dynamic offset.
  WGPUBindGroupLayout params_layout();

 private:
  using Pattern = std::vector<Access>;
  using KernelKey = std::tuple<WGPUShaderModule, Pattern, bool, std::string>;

  WGPUShaderModule module(const ShaderSource& source);
  WGPUBindGroupLayout storage_layout(const Pattern& pattern);
  WGPUPipelineLayout pipeline_layout(const Pattern& pattern, bool has_params);
  WGPUBindGroupLayout create_layout(
      const std::vector<WGPUBindGroupLayoutEntry>& entries);
  std::unique_ptr<Kernel> build(const ShaderSource& source,
                                WGPUShaderModule module);

  Context& context_;
  WGPUBindGroupLayout params_layout_ = nullptr;
  std::map<Pattern, WGPUBindGroupLayout> storage_layouts_;
  std::map<std::pair<Pattern, bool>, WGPUPipelineLayout> pipeline_layouts_;
  std::unordered_map<std::string, WGPUShaderModule> modules_;
  std::map<KernelKey, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace torch_webgpu::hal
