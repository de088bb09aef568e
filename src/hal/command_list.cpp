#include "hal/command_list.h"

#include <algorithm>

#include "hal/context.h"

namespace torch_webgpu::hal {
namespace {

// Writes commands to one command encoder; consecutive dispatches share a pass.
class Encoder {
 public:
  Encoder(Context& context, WGPUBindGroup params)
      : context_(context), procs_(context.procs), params_(params) {
    WGPUCommandEncoderDescriptor descriptor =
        WGPU_COMMAND_ENCODER_DESCRIPTOR_INIT;
    encoder_ = procs_.DeviceCreateCommandEncoder(context.device, &descriptor);
  }
  ~Encoder() {
    end_pass();
    procs_.CommandEncoderRelease(encoder_);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  void operator()(const CommandList::Dispatch& command) {
    if (command.timestamps) end_pass();
    if (pass_ == nullptr) begin_pass(command.timestamps);
    const Kernel& kernel = *command.kernel;
    if (pipeline_ != kernel.pipeline()) {
      pipeline_ = kernel.pipeline();
      procs_.ComputePassEncoderSetPipeline(pass_, pipeline_);
    }
    if (buffers_ != command.buffers) {
      buffers_ = command.buffers;
      procs_.ComputePassEncoderSetBindGroup(pass_, 0, buffers_, 0, nullptr);
    }
    if (kernel.has_params()) {
      procs_.ComputePassEncoderSetBindGroup(pass_, 1, params_, 1,
                                            &command.params_offset);
    }
    const Grid& grid = command.grid;
    procs_.ComputePassEncoderDispatchWorkgroups(pass_, grid.x, grid.y, grid.z);
    if (command.timestamps) end_pass();
  }

  void operator()(const CommandList::Copy& command) {
    end_pass();
    procs_.CommandEncoderCopyBufferToBuffer(encoder_, command.src,
                                            command.src_offset, command.dst,
                                            command.dst_offset, command.bytes);
  }

  void operator()(const CommandList::Clear& command) {
    end_pass();
    procs_.CommandEncoderClearBuffer(encoder_, command.buffer, command.offset,
                                     command.bytes);
  }

  void operator()(const CommandList::ResolveQueries& command) {
    end_pass();
    procs_.CommandEncoderResolveQuerySet(encoder_, command.queries, 0,
                                         command.count, command.dst, 0);
  }

  WGPUCommandBuffer finish() {
    end_pass();
    ErrorScope scope(context_);
    WGPUCommandBufferDescriptor descriptor =
        WGPU_COMMAND_BUFFER_DESCRIPTOR_INIT;
    WGPUCommandBuffer commands =
        procs_.CommandEncoderFinish(encoder_, &descriptor);
    // wgpu-native aborts when an invalid command buffer is submitted.
    const auto caught = scope.finish();
    if (caught || context_.errors.pending()) {
      if (commands != nullptr) procs_.CommandBufferRelease(commands);
      if (caught) context_.raise(caught->type, caught->message);
      context_.errors.rethrow();
    }
    return commands;
  }

 private:
  void begin_pass(const std::optional<WGPUPassTimestampWrites>& timestamps) {
    WGPUComputePassDescriptor descriptor = WGPU_COMPUTE_PASS_DESCRIPTOR_INIT;
    if (timestamps) descriptor.timestampWrites = &*timestamps;
    pass_ = procs_.CommandEncoderBeginComputePass(encoder_, &descriptor);
    pipeline_ = nullptr;
    buffers_ = nullptr;
  }

  void end_pass() {
    if (pass_ == nullptr) return;
    procs_.ComputePassEncoderEnd(pass_);
    procs_.ComputePassEncoderRelease(pass_);
    pass_ = nullptr;
  }

  Context& context_;
  const Procs& procs_;
  WGPUBindGroup params_;
  WGPUCommandEncoder encoder_ = nullptr;
  WGPUComputePassEncoder pass_ = nullptr;
  WGPUComputePipeline pipeline_ = nullptr;  // set in pass_
  WGPUBindGroup buffers_ = nullptr;         // set in pass_
};

}  // namespace

void CommandList::add(const Command& command, std::span<const Use> uses) {
  entries_.push_back({command, uses_.size(), uses.size()});
  uses_.insert(uses_.end(), uses.begin(), uses.end());
}

void CommandList::clear() {
  entries_.clear();
  uses_.clear();
}

bool CommandList::ready() const {
  return std::none_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    const auto* dispatch = std::get_if<Dispatch>(&entry.command);
    return dispatch != nullptr && dispatch->kernel->pending();
  });
}

std::vector<CommandList::Missing> CommandList::drop_failed() {
  std::vector<Missing> missing;
  std::erase_if(entries_, [&](const Entry& entry) {
    const auto* dispatch = std::get_if<Dispatch>(&entry.command);
    const auto uses = uses_of(entry);
    const Kernel* failed = nullptr;
    if (dispatch != nullptr && dispatch->kernel->pipeline() == nullptr) {
      failed = dispatch->kernel;
    } else if (!missing.empty()) {
      for (const Missing& earlier : missing) {
        const auto needs = [&](const Use& use) {
          return use.same(earlier.use);
        };
        if (std::any_of(uses.begin(), uses.end(), needs)) {
          failed = earlier.kernel;
          break;
        }
      }
    }
    if (failed == nullptr) return false;
    for (const Use& use : uses) {
      if (use.written) missing.push_back({use, failed});
    }
    return true;
  });
  return missing;
}

WGPUCommandBuffer CommandList::encode(WGPUBindGroup params) const {
  Encoder encoder(context_, params);
  for (const Entry& entry : entries_)
    std::visit(encoder, entry.command);
  return encoder.finish();
}

}  // namespace torch_webgpu::hal
