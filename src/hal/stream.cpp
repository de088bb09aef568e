#include "hal/stream.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

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
      submit_waits_(context.implementation->submit_waits(context.info)),
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
  Lock lock(context_.mutex);
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
  open(lock);
  while (params_used_ + params_slot(params) > kParamsCapacity)
    submit(lock);
  resolve(kernel, bindings);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;

  CommandList::Dispatch command{&kernel, nullptr, 0, grid, std::nullopt};
  command.buffers = context_.bind_groups->get(kernel.layout_, pieces_);
  if (kernel.has_params()) command.params_offset = place_params(params);
  if (profiling_) command.timestamps = timestamps_.next(kernel);
  uses_.clear();
  uint64_t bytes = 0;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const auto used =
        use(bindings[i].buffer, kernel.bindings_[i] == Access::ReadWrite);
    // Whoever reports a fault does not depend on others that could have.
    if (used.buffer != faults_.get()) uses_.push_back(used);
    bytes += pieces_[i].size;
  }
  ++context_.stats.dispatches;
  backlog_.add(&kernel, uint64_t{grid.x} * grid.y * grid.z, bytes);
  add(command, uses_);
  close(lock);
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
  if (!failures_.empty()) {
    for (const BufferBinding& binding : bindings)
      check_failed(binding.buffer);
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

uint64_t Stream::params_slot(std::span<const std::byte> params) const {
  const uint64_t alignment = context_.info.limits.uniform_offset_alignment;
  return std::max((params.size() + alignment - 1) / alignment, uint64_t{1}) *
         alignment;
}

uint32_t Stream::place_params(std::span<const std::byte> params) {
  ensure_params_buffer();
  const uint64_t offset = params_used_;
  std::memcpy(params_.data() + offset, params.data(), params.size());
  params_used_ += params_slot(params);
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

CommandList::Use Stream::use(Buffer* buffer, bool written) {
  buffer->last_window_ = serial_;
  if (buffer == faults_.get()) faults_used_ = true;
  return {buffer, buffer->allocation_, written};
}

bool Stream::used_in_window(const Buffer* buffer) const {
  return dirty_ && buffer->last_window_ == serial_;
}

void Stream::open(Lock& lock) {
  if (dirty_ || !busy()) return;
  const auto room = [this] {
    return submitted_ - context_.completed_window <= kMaxAhead &&
           !backlog_.full();
  };
  context_.poll();
  if (!room()) context_.wait(lock, room);
  context_.require_healthy();
}

void Stream::add(const CommandList::Command& command,
                 std::span<const CommandList::Use> uses) {
  commands_.add(command, uses);
  dirty_ = true;
}

void Stream::close(Lock& lock) {
  if (commands_.size() < window_ && !backlog_.window_long()) return;
  if (window_ > 1 && !submittable()) {
    // Rather a longer window than a wait, within the bounds of the backlog.
    if (commands_.size() % kCommandsPerLook == 0) context_.poll();
    if (!submittable() && commands_.size() < kMaxCommands &&
        !backlog_.full_with_open()) {
      return;
    }
  }
  submit(lock);
}

void Stream::flush() {
  Lock lock(context_.mutex);
  context_.require_healthy();
  submit(lock);
}

void Stream::submit(Lock& lock) {
  if (dirty_) await_submittable(lock);
  flush_locked();
}

bool Stream::busy() const {
  return submitted_ != context_.completed_window;
}

bool Stream::submittable() const {
  return commands_.ready() && !(submit_waits_ && busy());
}

void Stream::await_submittable(Lock& lock) {
  if (submittable()) return;
  context_.pipelines->await(
      lock, [this] { return submittable() || context_.errors.lost(); });
  context_.require_healthy();
}

void Stream::flush_locked() {
  if (!dirty_) return;
  if (context_.errors.lost()) {
    close_window();
    context_.errors.rethrow();
  }
  WGPUCommandBuffer commands = nullptr;
  try {
    drop_failed();
    if (!commands_.empty()) commands = commands_.encode(params_group_);
  } catch (...) {
    close_window();
    throw;
  }
  // Queue order: the previous window has been submitted, so that its
  // parameters are read before this write lands.
  if (params_used_ != 0) {
    context_.procs.QueueWriteBuffer(context_.queue, params_buffer_, 0,
                                    params_.data(), params_used_);
  }
  if (busy()) context_.poll();
  submit_window(commands);
}

void Stream::submit_window(WGPUCommandBuffer commands) {
  const Procs& procs = context_.procs;
  const auto before = Backlog::Clock::now();
  procs.QueueSubmit(context_.queue, commands != nullptr ? 1 : 0, &commands);
  if (commands != nullptr) procs.CommandBufferRelease(commands);
  WGPUQueueWorkDoneCallbackInfo callback =
      WGPU_QUEUE_WORK_DONE_CALLBACK_INFO_INIT;
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = on_window_done;
  callback.userdata1 = &context_.completed_window;
  callback.userdata2 = reinterpret_cast<void*>(serial_);
  procs.QueueOnSubmittedWorkDone(context_.queue, callback);
  submitted_ = serial_++;
  ++context_.stats.submits;
  backlog_.submit(before, Backlog::Clock::now());
  close_window();
}

void Stream::close_window() noexcept {
  commands_.clear();
  backlog_.drop();
  context_.bind_groups->release_evicted();
  written_ = 0;
  params_used_ = 0;
  dirty_ = false;
}

void Stream::observe() {
  backlog_.observe(context_.completed_window, Backlog::Clock::now());
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
  if (busy() || !commands_.ready()) {
    context_.poll();
    context_.pipelines->collect();
    context_.require_healthy();
  }
  if (serial > submitted_ && submittable()) flush_locked();
  return serial <= submitted_ ? context_.completed_window >= serial
                              : submittable() && !busy();
}

void Stream::wait(uint64_t serial) {
  Lock lock(context_.mutex);
  context_.require_healthy();
  if (serial > submitted_) submit(lock);
  wait_for(lock, std::min(serial, submitted_));
}

void Stream::synchronize() {
  Lock lock(context_.mutex);
  context_.require_healthy();
  if (faults_used_) read_back(lock, nullptr, nullptr, 0, nullptr, 0);
  wait_idle(lock);
  context_.pipelines->settle(lock);
  throw_untold();
}

void Stream::wait_idle(Lock& lock) {
  submit(lock);
  wait_for(lock, submitted_);
}

void Stream::wait_for(Lock& lock, uint64_t serial) {
  context_.wait(lock, [&] {
    return context_.completed_window >= serial || context_.errors.lost();
  });
  context_.require_healthy();
}

void Stream::drop_failed() {
  for (const CommandList::Missing& missing : commands_.drop_failed()) {
    const std::string& text = missing.kernel->failure_;
    if (untold_.empty()) untold_ = text;
    const Buffer* buffer = missing.use.buffer;
    // Who freed it does not miss it.
    if (buffer->live_ && buffer->allocation_ == missing.use.allocation) {
      failures_[buffer] = {missing.use.allocation, text};
    }
  }
}

void Stream::check_failed(const Buffer* buffer) {
  const auto node = failures_.extract(buffer);
  if (!node || node.mapped().allocation != buffer->allocation_) return;
  if (untold_ == node.mapped().text) untold_.clear();
  throw ShaderError(node.mapped().text);
}

void Stream::forgive(const Buffer* buffer, uint64_t offset, uint64_t bytes) {
  if (offset == 0 && bytes >= buffer->requested_) failures_.erase(buffer);
}

void Stream::throw_untold() {
  if (!untold_.empty()) throw ShaderError(std::exchange(untold_, {}));
}

void Stream::set_window(uint32_t window) {
  Lock lock(context_.mutex);
  context_.require_healthy();
  window_ = std::max(window, 1u);
  close(lock);
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
  Lock lock(context_.mutex);
  context_.require_healthy();
  return timestamps_.take(lock);
}

}  // namespace torch_webgpu::hal
