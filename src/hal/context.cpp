#include "hal/context.h"

#include <chrono>
#include <thread>
#include <utility>

#include "hal/errors.h"

namespace torch_webgpu::hal {
namespace {

void on_scope(WGPUPopErrorScopeStatus status, WGPUErrorType type,
              WGPUStringView message, void* completion, void*) noexcept {
  auto* self = static_cast<Completion*>(completion);
  self->error = type;
  self->finish(status == WGPUPopErrorScopeStatus_Success, message);
}

}  // namespace

void Completion::finish(bool succeeded, WGPUStringView text) noexcept {
  success = succeeded;
  try {
    message = to_string(text);
  } catch (...) {
    message.clear();  // out of host memory: the outcome alone is kept
  }
  done = true;
}

Context::~Context() {
  if (queue != nullptr) procs.QueueRelease(queue);
  if (device != nullptr) procs.DeviceRelease(device);
  if (adapter != nullptr) procs.AdapterRelease(adapter);
  if (instance != nullptr) procs.InstanceRelease(instance);
}

void Context::await(std::unique_ptr<Completion>& completion, WGPUFuture future,
                    uint64_t submission) {
  const WaitTarget what = target(future, submission);
  // A lost device completes its callbacks after a few turns; a wait that makes
  // no progress otherwise must not burn the core.
  constexpr int kPatience = 100;
  for (int turn = 0; !completion->done; ++turn) {
    if (errors.lost() && turn > kPatience) {
      abandoned_.push_back(std::move(completion));
      errors.rethrow();
    }
    if (errors.lost()) {
      implementation->poll(what);
    } else {
      implementation->wait(what);
    }
    if (turn > kPatience && !completion->done) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

void Context::raise(WGPUErrorType type, const std::string& message) {
  if (errors.lost()) errors.rethrow();
  throw_error(type, message);
}

WGPUBuffer Context::create_buffer(WGPUBufferUsage usage, uint64_t size,
                                  const char* label) {
  WGPUBufferDescriptor descriptor = WGPU_BUFFER_DESCRIPTOR_INIT;
  descriptor.label = view(label);
  descriptor.usage = usage;
  descriptor.size = size;
  ErrorScope scope(*this, /*out_of_memory=*/true);
  WGPUBuffer buffer = procs.DeviceCreateBuffer(device, &descriptor);
  const auto caught = scope.finish();
  if (caught || buffer == nullptr) {
    if (buffer != nullptr) procs.BufferRelease(buffer);
    if (caught) raise(caught->type, caught->message);
    throw OutOfMemory("WebGPU could not create a buffer.");
  }
  ++stats.buffers_created;
  return buffer;
}

ErrorScope::ErrorScope(Context& context, bool out_of_memory)
    : context_(context), depth_(out_of_memory ? 2 : 1) {
  if (out_of_memory) {
    context_.procs.DevicePushErrorScope(context_.device,
                                        WGPUErrorFilter_OutOfMemory);
  }
  context_.procs.DevicePushErrorScope(context_.device,
                                      WGPUErrorFilter_Validation);
}

ErrorScope::~ErrorScope() {
  while (depth_ > 0) {
    try {
      pop();
    } catch (const Error&) {
      // The device is lost; whoever unwinds reports it.
    }
  }
}

std::optional<ErrorScope::Caught> ErrorScope::finish() {
  std::optional<Caught> first;
  while (depth_ > 0) {
    auto caught = pop();
    if (caught && !first) first = std::move(caught);
  }
  // The loss itself is reported by a callback, which needs a poll.
  if (first && !context_.errors.notice_loss(first->message)) {
    context_.implementation->poll(context_.target());
  }
  return first;
}

std::optional<ErrorScope::Caught> ErrorScope::pop() {
  --depth_;
  auto completion = std::make_unique<Completion>();
  WGPUPopErrorScopeCallbackInfo callback =
      WGPU_POP_ERROR_SCOPE_CALLBACK_INFO_INIT;
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = on_scope;
  callback.userdata1 = completion.get();
  const WGPUFuture future =
      context_.procs.DevicePopErrorScope(context_.device, callback);
  context_.await(completion, future);
  if (completion->error == WGPUErrorType_NoError) return std::nullopt;
  // A cancelled scope says nothing about the calls inside it.
  if (!completion->success) return std::nullopt;
  return Caught{completion->error, std::move(completion->message)};
}

}  // namespace torch_webgpu::hal
