#pragma once

#include <functional>
#include <list>
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
// call; nothing is dropped before the Device, except kernels from outside.
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
  // Throws ShaderError.
  std::shared_ptr<const Kernel> get_outside(const ShaderSource& source);
  // Destroys kernels from outside that nobody has any more. No command that
  // waits to be encoded may use them.
  void release_dropped();
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
  // Kernels from outside that are kept though nobody has them.
  static constexpr size_t kOutside = 256;
  // Where the last owner of a kernel from outside leaves it, from any thread,
  // with or without the Device's lock, perhaps after the Device.
  struct Dropped {
    std::mutex mutex;
    std::vector<std::unique_ptr<Kernel>> kernels;
  };
  struct Outside {
    std::string key;
    std::shared_ptr<const Kernel> kernel;
  };

  bool checked(const ShaderSource& source) const;
  // What the module is made of, with the implementation's directives.
  std::string code_of(const ShaderSource& source) const;
  WGPUShaderModule create_module(const ShaderSource& source,
                                 const std::string& code);
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
  std::list<Outside> outside_;  // the last used first
  std::shared_ptr<Dropped> dropped_ = std::make_shared<Dropped>();
  // Pipelines that are being made.
  std::unordered_map<Kernel*, std::unique_ptr<Completion>> pending_;
};

}  // namespace torch_webgpu::hal
