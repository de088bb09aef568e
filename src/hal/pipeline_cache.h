#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
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

  using Lock = std::unique_lock<std::mutex>;

  // Throws ShaderError. Gives the lock up while it waits for a pipeline that is
  // being made already.
  const Kernel& get(Lock& lock, const ShaderSource& source);
  // Takes what has been made since the last poll; never waits.
  void collect();
  // Waits for pipelines until ready(); throws DeviceLost. Those that could not
  // be made are their users' news.
  void await(Lock& lock, const std::function<bool()>& ready);
  void settle(Lock& lock);  // waits for all
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

  Context& context_;
  WGPUBindGroupLayout params_layout_ = nullptr;
  std::map<Pattern, WGPUBindGroupLayout> storage_layouts_;
  std::map<std::pair<Pattern, bool>, WGPUPipelineLayout> pipeline_layouts_;
  std::unordered_map<std::string, WGPUShaderModule> modules_;
  std::map<KernelKey, std::unique_ptr<Kernel>> kernels_;
  // Pipelines that are being made.
  std::unordered_map<Kernel*, std::unique_ptr<Completion>> pending_;
};

}  // namespace torch_webgpu::hal
