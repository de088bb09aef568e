#include "hal/stream.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "hal/buffer_pool.h"
#include "hal/context.h"
#include "hal/errors.h"
#include "hal/pipeline_cache.h"

namespace torch_webgpu::hal {
namespace {

[[noreturn]] void reject(const Kernel& kernel, const std::string& why) {
  throw Error(kernel.label() + ": " + why + ".");
}

void on_window_done(WGPUQueueWorkDoneStatus, WGPUStringView, void* completed,
                    void* serial) noexcept {
  auto* latest = static_cast<std::atomic<uint64_t>*>(completed);
  const auto value = reinterpret_cast<uintptr_t>(serial);
  if (latest->load() < value) latest->store(value);
}

}  // namespace

Grid fold(uint64_t workgroups, uint32_t max_per_dimension) {
  if (workgroups <= max_per_dimension) {
    return {static_cast<uint32_t>(workgroups), 1, 1};
  }
  const uint64_t rows =
      (workgroups + max_per_dimension - 1) / max_per_dimension;
  if (rows > max_per_dimension) {
    throw Error("a grid of " + std::to_string(workgroups) +
                " workgroups does not fit into two dimensions of " +
                std::to_string(max_per_dimension) + ".");
  }
  return {static_cast<uint32_t>((workgroups + rows - 1) / rows),
          static_cast<uint32_t>(rows), 1};
}

Stream::Stream(Context& context, uint32_t window)
    : context_(context),
      window_(std::max(window, 1u)),
      timestamps_(context),
      commands_(context),
      params_(kParamsCapacity) {}

Stream::~Stream() {
  const Procs& procs = context_.procs;
  for (auto& [size, buffer] : staging_)
    procs.BufferRelease(buffer);
  if (params_group_ != nullptr) procs.BindGroupRelease(params_group_);
  if (params_buffer_ != nullptr) procs.BufferRelease(params_buffer_);
  if (faults_) procs.BufferRelease(faults_->handle_);
}

void Stream::dispatch(const Kernel& kernel,
                      std::span<const BufferBinding> bindings,
                      std::span<const std::byte> params, Grid grid) {
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  const uint32_t limit = context_.info.limits.max_workgroups_per_dimension;
  if (grid.x > limit || grid.y > limit || grid.z > limit) {
    reject(kernel, "the grid " + std::to_string(grid.x) + " x " +
                       std::to_string(grid.y) + " x " + std::to_string(grid.z) +
                       " exceeds " + std::to_string(limit) +
                       " workgroups in a dimension");
  }
  if (params.size() > (kernel.has_params() ? kMaxParams : 0)) {
    reject(kernel, std::to_string(params.size()) +
                       " bytes of parameters, but at most " +
                       std::to_string(kernel.has_params() ? kMaxParams : 0) +
                       " are allowed");
  }
  if (!kernel.failure_.empty()) throw ShaderError(kernel.failure_);
  resolve(kernel, bindings);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;

  // The group first: making room for a new one may submit the window, and with
  // it the parameters.
  WGPUBindGroup group = context_.bind_groups->get(kernel.layout_, pieces_);
  CommandList::Dispatch command{&kernel, group, 0, grid, std::nullopt};
  if (kernel.has_params()) command.params_offset = place_params(params);
  if (profiling_) command.timestamps = timestamps_.next(kernel);
  for (const BufferBinding& binding : bindings)
    use(binding.buffer);
  ++context_.stats.dispatches;
  append(command);
}

void Stream::resolve(const Kernel& kernel,
                     std::span<const BufferBinding> bindings) {
  if (bindings.size() != kernel.bindings_.size()) {
    reject(kernel, std::to_string(bindings.size()) + " buffers given, " +
                       std::to_string(kernel.bindings_.size()) + " expected");
  }
  const Limits& limits = context_.info.limits;
  pieces_.clear();
  for (const BufferBinding& binding : bindings) {
    const Buffer* buffer = binding.buffer;
    if (buffer == nullptr || !buffer->live_) {
      reject(kernel, "binding " + std::to_string(pieces_.size()) +
                         " is not a live buffer");
    }
    const bool inside = binding.offset < buffer->size_;
    const uint64_t rest = inside ? buffer->size_ - binding.offset : 0;
    const uint64_t size = binding.size != 0 ? binding.size : rest;
    if (!inside || size > rest || size % 4 != 0 ||
        size > limits.max_storage_binding_size ||
        binding.offset % limits.storage_offset_alignment != 0) {
      reject(kernel, "binding " + std::to_string(pieces_.size()) + " of " +
                         std::to_string(size) + " bytes at offset " +
                         std::to_string(binding.offset) + " of a buffer of " +
                         std::to_string(buffer->size_) +
                         " bytes is not allowed (inside the buffer, at most " +
                         std::to_string(limits.max_storage_binding_size) +
                         " bytes, a multiple of 4, aligned to " +
                         std::to_string(limits.storage_offset_alignment) + ")");
    }
    pieces_.push_back({buffer, buffer->id_, binding.offset, size});
  }
  if (kernel.writes_) check_aliases(kernel);
}

void Stream::check_aliases(const Kernel& kernel) const {
  for (size_t i = 1; i < pieces_.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const auto& a = pieces_[i];
      const auto& b = pieces_[j];
      if (a.id != b.id) continue;
      const Access first = kernel.bindings_[i];
      const Access second = kernel.bindings_[j];
      const bool overlap =
          a.offset < b.offset + b.size && b.offset < a.offset + a.size;
      if (first != second || (first == Access::ReadWrite && overlap)) {
        reject(kernel, "bindings " + std::to_string(j) + " and " +
                           std::to_string(i) +
                           " are the same buffer, and one is written");
      }
    }
  }
}

uint32_t Stream::place_params(std::span<const std::byte> params) {
  ensure_params_buffer();
  const uint64_t alignment = context_.info.limits.uniform_offset_alignment;
  const uint64_t slot =
      std::max((params.size() + alignment - 1) / alignment, uint64_t{1}) *
      alignment;
  if (params_used_ + slot > kParamsCapacity) flush_locked();
  const uint64_t offset = params_used_;
  std::memcpy(params_.data() + offset, params.data(), params.size());
  params_used_ += slot;
  return static_cast<uint32_t>(offset);
}

void Stream::ensure_params_buffer() {
  if (params_group_ != nullptr) return;
  if (params_buffer_ == nullptr) {
    // Every slot is bound as kMaxParams bytes, also the last one.
    params_buffer_ = context_.create_buffer(
        WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst,
        kParamsCapacity + kMaxParams, "torch_webgpu parameters");
  }
  WGPUBindGroupEntry entry = WGPU_BIND_GROUP_ENTRY_INIT;
  entry.buffer = params_buffer_;
  entry.size = kMaxParams;
  WGPUBindGroupDescriptor descriptor = WGPU_BIND_GROUP_DESCRIPTOR_INIT;
  descriptor.layout = context_.pipelines->params_layout();
  descriptor.entryCount = 1;
  descriptor.entries = &entry;
  ErrorScope scope(context_);
  WGPUBindGroup group =
      context_.procs.DeviceCreateBindGroup(context_.device, &descriptor);
  if (const auto caught = scope.finish()) {
    if (group != nullptr) context_.procs.BindGroupRelease(group);
    context_.raise(caught->type, caught->message);
  }
  ++context_.stats.bind_groups_created;
  params_group_ = group;
}

void Stream::use(Buffer* buffer) {
  buffer->last_window_ = serial_;
  if (buffer == faults_.get()) faults_used_ = true;
}

bool Stream::used_in_window(const Buffer* buffer) const {
  return dirty_ && buffer->last_window_ == serial_;
}

void Stream::append(const CommandList::Command& command) {
  commands_.add(command);
  dirty_ = true;
  if (commands_.size() >= window_) flush_locked();
}

void Stream::flush() {
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  flush_locked();
}

void Stream::flush_locked() {
  if (!dirty_) return;
  if (context_.errors.lost()) {
    close_window();
    context_.errors.rethrow();
  }
  WGPUCommandBuffer commands = nullptr;
  if (!commands_.empty()) {
    try {
      commands = commands_.encode(params_group_);
    } catch (...) {
      close_window();
      throw;
    }
  }
  // Queue order: the previous window has been submitted, so that its
  // parameters are read before this write lands.
  if (params_used_ != 0) {
    context_.procs.QueueWriteBuffer(context_.queue, params_buffer_, 0,
                                    params_.data(), params_used_);
  }
  submit_window(commands);
  throttle();
}

void Stream::submit_window(WGPUCommandBuffer commands) {
  const Procs& procs = context_.procs;
  Submitted& entry = ring_[serial_ % kRing];
  entry.submission = context_.implementation->submit(
      context_.queue, commands != nullptr ? 1 : 0, &commands);
  if (commands != nullptr) procs.CommandBufferRelease(commands);
  WGPUQueueWorkDoneCallbackInfo callback =
      WGPU_QUEUE_WORK_DONE_CALLBACK_INFO_INIT;
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = on_window_done;
  callback.userdata1 = &context_.completed_window;
  callback.userdata2 = reinterpret_cast<void*>(serial_);
  entry.future = procs.QueueOnSubmittedWorkDone(context_.queue, callback);
  submitted_ = serial_++;
  ++context_.stats.submits;
  close_window();
}

void Stream::close_window() noexcept {
  commands_.clear();
  written_ = 0;
  params_used_ = 0;
  dirty_ = false;
}

void Stream::throttle() {
  if (submitted_ - context_.completed_window <= kMaxAhead) return;
  context_.implementation->poll(context_.target());
  if (submitted_ - context_.completed_window > kMaxAhead) {
    wait_locked(submitted_ - kMaxAhead);
  }
}

uint64_t Stream::record() {
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  return dirty_ ? serial_ : submitted_;
}

bool Stream::done(uint64_t serial) {
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  // Nobody else may ever submit the open window, and then a loop that asks
  // would not end.
  if (serial > submitted_) flush_locked();
  const uint64_t target = std::min(serial, submitted_);
  if (context_.completed_window < target) {
    context_.implementation->poll(context_.target());
    context_.require_healthy();
  }
  return context_.completed_window >= target;
}

void Stream::wait(uint64_t serial) {
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  if (serial > submitted_) flush_locked();
  wait_locked(std::min(serial, submitted_));
}

void Stream::synchronize() {
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  if (faults_used_) {
    std::array<uint32_t, 4> words;
    read_back(faults_->handle_, 0, words.data(), sizeof words);
  }
  wait_idle_locked();
  context_.pipelines->settle();
}

void Stream::wait_idle_locked() {
  flush_locked();
  wait_locked(submitted_);
}

void Stream::wait_locked(uint64_t serial) {
  if (context_.completed_window < serial) {
    ++context_.stats.waits;
    const Submitted& entry = ring_[serial % kRing];
    const WaitTarget target = context_.target(entry.future, entry.submission);
    constexpr int kPatience = 100;
    for (int turn = 0; context_.completed_window < serial; ++turn) {
      if (context_.errors.lost()) break;
      context_.implementation->wait(target);
      if (turn > kPatience) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }
  context_.require_healthy();
}

void Stream::set_window(uint32_t window) {
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  window_ = std::max(window, 1u);
  if (commands_.size() >= window_) flush_locked();
}

void Stream::set_profiling(bool on) {
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  if (on && !context_.info.timestamps) {
    throw Error("the adapter \"" + context_.info.name +
                "\" has no timestamp queries; profile on another adapter.");
  }
  profiling_ = on;
}

std::vector<KernelTiming> Stream::take_timings() {
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  return timestamps_.take();
}

}  // namespace torch_webgpu::hal
