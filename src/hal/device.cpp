#include "hal/device.h"

#include <mutex>
#include <utility>

#include "hal/adapter.h"
#include "hal/bind_group_cache.h"
#include "hal/context.h"
#include "hal/pipeline_cache.h"

namespace torch_webgpu::hal {

std::unique_ptr<Device> Device::create(const DeviceOptions& options) {
  auto context = open_instance(options);
  choose_adapter(*context, options);
  open_device(*context);
  return std::unique_ptr<Device>(new Device(std::move(context), options));
}

Device::Device(std::unique_ptr<Context> context, const DeviceOptions& options)
    : context_(std::move(context)) {
  uint64_t limit = options.memory_limit;
  if (limit == 0 && context_->info.adapter_type == "cpu") {
    limit = physical_memory() / 8 * 7;
  }
  pipelines_ = std::make_unique<PipelineCache>(*context_);
  bind_groups_ = std::make_unique<BindGroupCache>(*context_);
  pool_ = std::make_unique<BufferPool>(*context_, limit);
  stream_ = std::make_unique<Stream>(*context_, options.window);
  context_->pipelines = pipelines_.get();
  context_->bind_groups = bind_groups_.get();
  context_->pool = pool_.get();
  context_->stream = stream_.get();
}

Device::~Device() {
  try {
    stream_->synchronize();
  } catch (const std::exception&) {
    // Nobody is left to tell; the objects are released all the same.
  }
  context_->stream = nullptr;
  stream_.reset();
  bind_groups_.reset();
  pool_.reset();
  pipelines_.reset();
}

const DeviceInfo& Device::info() const {
  return context_->info;
}

const Kernel& Device::compile(const ShaderSource& source) {
  Lock lock(context_->mutex);
  context_->require_healthy();
  return pipelines_->get(lock, source);
}

std::shared_ptr<const Kernel> Device::compile_outside(
    const ShaderSource& source) {
  Lock lock(context_->mutex);
  context_->require_healthy();
  // Nobody waits to be encoded.
  if (stream_->commands_.empty()) pipelines_->release_dropped();
  return pipelines_->get_outside(source);
}

Stats Device::stats() {
  const std::lock_guard lock(context_->mutex);
  Stats stats = context_->stats;
  stats.cache_loads = context_->cache->loads();
  stats.cache_stores = context_->cache->stores();
  return stats;
}

void Device::throw_pending_errors() {
  context_->require_healthy();
}

void Device::lose_for_testing(bool tell) {
  const std::lock_guard lock(context_->mutex);
  context_->procs.DeviceDestroy(context_->device);
  if (!tell) return;
  context_->implementation->poll(context_->target());
  // An implementation may report a loss that was asked for late or never.
  context_->errors.lose("destroyed", view("lose_for_testing"));
}

void Device::inject_error_for_testing(const std::string& message) {
  ErrorSink::on_uncaptured(nullptr, WGPUErrorType_Validation, view(message),
                           &context_->errors, nullptr);
}

}  // namespace torch_webgpu::hal
