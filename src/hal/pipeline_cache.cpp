#include "hal/pipeline_cache.h"

#include <algorithm>
#include <utility>

#include "hal/context.h"
#include "hal/errors.h"
#include "hal/stream.h"

namespace torch_webgpu::hal {
namespace {

void on_pipeline(WGPUCreatePipelineAsyncStatus status,
                 WGPUComputePipeline pipeline, WGPUStringView message,
                 void* completion, void*) noexcept {
  auto* self = static_cast<Completion*>(completion);
  self->pipeline = pipeline;
  self->finish(status == WGPUCreatePipelineAsyncStatus_Success, message);
}

std::string failure_text(const std::string& label, const std::string& why) {
  return label + ": the pipeline cannot be made: " + why;
}

}  // namespace

PipelineCache::PipelineCache(Context& context) : context_(context) {}

PipelineCache::~PipelineCache() {
  try {
    Lock lock(context_.mutex);
    settle(lock);
  } catch (const Error&) {
    // The device is lost; what it still makes belongs to nobody.
    for (auto& [kernel, completion] : pending_)
      context_.abandon(std::move(completion));
  }
  outside_.clear();
  release_dropped();
  const Procs& procs = context_.procs;
  for (auto& [key, kernel] : kernels_) {
    if (kernel->pipeline_ != nullptr) {
      procs.ComputePipelineRelease(kernel->pipeline_);
    }
  }
  for (auto& [key, layout] : pipeline_layouts_) {
    procs.PipelineLayoutRelease(layout);
  }
  for (auto& [key, layout] : storage_layouts_) {
    procs.BindGroupLayoutRelease(layout);
  }
  if (params_layout_ != nullptr) procs.BindGroupLayoutRelease(params_layout_);
  for (auto& [key, module] : modules_)
    procs.ShaderModuleRelease(module);
}

const Kernel& PipelineCache::get(Lock& lock, const ShaderSource& source) {
  WGPUShaderModule compiled = module(source);
  KernelKey key(compiled, source.bindings, source.has_params,
                source.entry_point);
  const auto it = kernels_.find(key);
  const Kernel& kernel =
      it != kernels_.end()
          ? *it->second
          : *kernels_.emplace(std::move(key), build(source, compiled))
                 .first->second;
  if (!source.deferrable) {
    await(lock, [&] { return !kernel.pending(); });
    if (kernel.pipeline_ == nullptr) throw ShaderError(kernel.failure_);
  }
  return kernel;
}

void PipelineCache::collect() {
  std::erase_if(pending_, [](auto& item) {
    auto& [kernel, completion] = item;
    if (!completion->done) return false;
    if (completion->success) {
      kernel->pipeline_ = completion->pipeline;
    } else {
      kernel->failure_ = failure_text(kernel->label_, completion->message);
    }
    return true;
  });
}

void PipelineCache::await(Lock& lock, const std::function<bool()>& ready) {
  const bool made = context_.wait(lock, [&] {
    collect();
    return ready();
  });
  if (!made) context_.errors.rethrow();
}

void PipelineCache::settle(Lock& lock) {
  if (pending_.empty()) return;
  await(lock, [this] { return pending_.empty(); });
}

bool PipelineCache::checked(const ShaderSource& source) const {
  return context_.validation || !source.trusted;
}

std::string PipelineCache::code_of(const ShaderSource& source) const {
  std::string code;
  if (source.subgroups) code = context_.implementation->subgroup_directive();
  return code + source.wgsl;
}

WGPUShaderModule PipelineCache::create_module(const ShaderSource& source,
                                              const std::string& code) {
  WGPUShaderSourceWGSL wgsl = WGPU_SHADER_SOURCE_WGSL_INIT;
  wgsl.code = view(code);
  WGPUShaderModuleDescriptor descriptor = WGPU_SHADER_MODULE_DESCRIPTOR_INIT;
  descriptor.nextInChain = &wgsl.chain;
  descriptor.label = view(source.label);
  ErrorScope scope(context_);
  WGPUShaderModule created = context_.implementation->create_shader_module(
      context_.device, descriptor, checked(source));
  if (const auto caught = scope.finish()) {
    if (created != nullptr) context_.procs.ShaderModuleRelease(created);
    if (context_.errors.lost()) context_.errors.rethrow();
    throw ShaderError(source.label +
                      ": the shader does not compile: " + caught->message);
  }
  ++context_.stats.shader_modules_created;
  return created;
}

WGPUShaderModule PipelineCache::module(const ShaderSource& source) {
  const std::string code = code_of(source);
  std::string key = code + (checked(source) ? "\n// checked" : "");
  const auto it = modules_.find(key);
  if (it != modules_.end()) return it->second;
  WGPUShaderModule created = create_module(source, code);
  modules_.emplace(std::move(key), created);
  return created;
}

std::shared_ptr<const Kernel> PipelineCache::get_outside(
    const ShaderSource& source) {
  const std::string code = code_of(source);
  std::string key = source.label + '\n' + source.entry_point +
                    (checked(source) ? "!" : " ") +
                    (source.has_params ? "p" : " ");
  for (const Access access : source.bindings)
    key += access == Access::Read ? 'r' : 'w';
  key += '\n' + code;
  const auto found =
      std::ranges::find(outside_, key, [](const Outside& o) { return o.key; });
  if (found != outside_.end()) {
    outside_.splice(outside_.begin(), outside_, found);
    return outside_.front().kernel;
  }
  ShaderSource now = source;
  now.deferrable = false;  // so that nothing refers to it but its owners
  WGPUShaderModule compiled = create_module(now, code);
  std::unique_ptr<Kernel> made;
  try {
    made = build(now, compiled);
  } catch (...) {
    context_.procs.ShaderModuleRelease(compiled);
    throw;
  }
  context_.procs.ShaderModuleRelease(compiled);  // the pipeline has it
  std::shared_ptr<const Kernel> kernel(
      made.release(), [dropped = dropped_](const Kernel* last) {
        const std::lock_guard lock(dropped->mutex);
        dropped->kernels.emplace_back(const_cast<Kernel*>(last));
      });
  outside_.push_front({std::move(key), kernel});
  if (outside_.size() > kOutside) outside_.pop_back();
  return kernel;
}

void PipelineCache::release_dropped() {
  std::vector<std::unique_ptr<Kernel>> kernels;
  {
    const std::lock_guard lock(dropped_->mutex);
    kernels.swap(dropped_->kernels);
  }
  for (const auto& kernel : kernels)
    context_.procs.ComputePipelineRelease(kernel->pipeline_);
}

WGPUBindGroupLayout PipelineCache::create_layout(
    const std::vector<WGPUBindGroupLayoutEntry>& entries) {
  WGPUBindGroupLayoutDescriptor descriptor =
      WGPU_BIND_GROUP_LAYOUT_DESCRIPTOR_INIT;
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  ErrorScope scope(context_);
  WGPUBindGroupLayout layout =
      context_.procs.DeviceCreateBindGroupLayout(context_.device, &descriptor);
  if (const auto caught = scope.finish()) {
    if (layout != nullptr) context_.procs.BindGroupLayoutRelease(layout);
    context_.raise(caught->type, caught->message);
  }
  return layout;
}

WGPUBindGroupLayout PipelineCache::params_layout() {
  if (params_layout_ == nullptr) {
    std::vector<WGPUBindGroupLayoutEntry> entries(
        1, WGPU_BIND_GROUP_LAYOUT_ENTRY_INIT);
    entries[0].visibility = WGPUShaderStage_Compute;
    entries[0].buffer.type = WGPUBufferBindingType_Uniform;
    entries[0].buffer.hasDynamicOffset = true;
    // A larger parameter block then fails when the kernel is compiled.
    entries[0].buffer.minBindingSize = Stream::kMaxParams;
    params_layout_ = create_layout(entries);
  }
  return params_layout_;
}

WGPUBindGroupLayout PipelineCache::storage_layout(const Pattern& pattern) {
  const auto it = storage_layouts_.find(pattern);
  if (it != storage_layouts_.end()) return it->second;
  std::vector<WGPUBindGroupLayoutEntry> entries(
      pattern.size(), WGPU_BIND_GROUP_LAYOUT_ENTRY_INIT);
  for (size_t i = 0; i < pattern.size(); ++i) {
    entries[i].binding = static_cast<uint32_t>(i);
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type = pattern[i] == Access::Read
                                 ? WGPUBufferBindingType_ReadOnlyStorage
                                 : WGPUBufferBindingType_Storage;
  }
  return storage_layouts_.emplace(pattern, create_layout(entries))
      .first->second;
}

WGPUPipelineLayout PipelineCache::pipeline_layout(const Pattern& pattern,
                                                  bool has_params) {
  std::pair key(pattern, has_params);
  const auto it = pipeline_layouts_.find(key);
  if (it != pipeline_layouts_.end()) return it->second;
  const WGPUBindGroupLayout groups[] = {storage_layout(pattern),
                                        has_params ? params_layout() : nullptr};
  WGPUPipelineLayoutDescriptor descriptor =
      WGPU_PIPELINE_LAYOUT_DESCRIPTOR_INIT;
  descriptor.bindGroupLayoutCount = has_params ? 2 : 1;
  descriptor.bindGroupLayouts = groups;
  ErrorScope scope(context_);
  WGPUPipelineLayout layout =
      context_.procs.DeviceCreatePipelineLayout(context_.device, &descriptor);
  if (const auto caught = scope.finish()) {
    if (layout != nullptr) context_.procs.PipelineLayoutRelease(layout);
    context_.raise(caught->type, caught->message);
  }
  return pipeline_layouts_.emplace(std::move(key), layout).first->second;
}

std::unique_ptr<Kernel> PipelineCache::build(const ShaderSource& source,
                                             WGPUShaderModule module) {
  const uint32_t maximum = context_.info.limits.max_storage_buffers;
  if (source.bindings.size() > maximum) {
    throw ShaderError(source.label + ": it binds " +
                      std::to_string(source.bindings.size()) +
                      " storage buffers, but the adapter allows " +
                      std::to_string(maximum) + ".");
  }
  auto kernel = std::make_unique<Kernel>();
  kernel->label_ = source.label;
  kernel->bindings_ = source.bindings;
  kernel->has_params_ = source.has_params;
  kernel->writes_ = std::find(source.bindings.begin(), source.bindings.end(),
                              Access::ReadWrite) != source.bindings.end();
  kernel->layout_ = storage_layout(source.bindings);

  WGPUComputePipelineDescriptor descriptor =
      WGPU_COMPUTE_PIPELINE_DESCRIPTOR_INIT;
  descriptor.label = view(source.label);
  descriptor.layout = pipeline_layout(source.bindings, source.has_params);
  descriptor.compute.module = module;
  descriptor.compute.entryPoint = view(source.entry_point);
  if (source.deferrable && build_async(*kernel, descriptor)) return kernel;
  ErrorScope scope(context_);
  WGPUComputePipeline pipeline =
      context_.procs.DeviceCreateComputePipeline(context_.device, &descriptor);
  if (const auto caught = scope.finish()) {
    if (pipeline != nullptr) context_.procs.ComputePipelineRelease(pipeline);
    if (context_.errors.lost()) context_.errors.rethrow();
    throw ShaderError(failure_text(source.label, caught->message));
  }
  kernel->pipeline_ = pipeline;
  ++context_.stats.pipelines_created;
  return kernel;
}

bool PipelineCache::build_async(
    Kernel& kernel, const WGPUComputePipelineDescriptor& descriptor) {
  auto completion = std::make_unique<Completion>();
  WGPUCreateComputePipelineAsyncCallbackInfo callback =
      WGPU_CREATE_COMPUTE_PIPELINE_ASYNC_CALLBACK_INFO_INIT;
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = on_pipeline;
  callback.userdata1 = completion.get();
  const auto future = context_.implementation->create_pipeline_async(
      context_.device, descriptor, callback);
  if (!future) return false;
  ++context_.stats.pipelines_created;
  pending_.emplace(&kernel, std::move(completion));
  return true;
}

}  // namespace torch_webgpu::hal
