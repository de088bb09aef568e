#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "hal/kernel.h"

namespace torch_webgpu::hal {

struct Completion;
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
  // Waits for the kernel's pipeline; throws ShaderError if it has none.
  void await(const Kernel& kernel);
  // Waits for all pipelines that are being made. Those that could not be made
  // are their users' news.
  void settle();
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
  bool build_async(Kernel& kernel,
                   const WGPUComputePipelineDescriptor& descriptor);

  // A pipeline that is being made.
  struct Pending {
    Kernel* kernel;
    std::unique_ptr<Completion> completion;
    WGPUFuture future;
  };
  void finish(Pending pending);  // throws DeviceLost

  Context& context_;
  WGPUBindGroupLayout params_layout_ = nullptr;
  std::map<Pattern, WGPUBindGroupLayout> storage_layouts_;
  std::map<std::pair<Pattern, bool>, WGPUPipelineLayout> pipeline_layouts_;
  std::unordered_map<std::string, WGPUShaderModule> modules_;
  std::map<KernelKey, std::unique_ptr<Kernel>> kernels_;
  std::unordered_map<const Kernel*, Pending> pending_;
};

}  // namespace torch_webgpu::hal
