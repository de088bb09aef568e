#include "hal/context.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "hal/errors.h"
#include "hal/stream.h"

namespace torch_webgpu::hal {
namespace {

// A lost device completes its callbacks after a few turns.
constexpr int kPatience = 100;

// The time between two polls. Neither implementation has a wait that leaves the
// device to other threads: wgpu-native's holds up every submit, Dawn is not
// made for calls from two threads. Short waits yield, so that a readback is not
// late; then the sleep is a small part of the time that has passed.
class Pause {
 public:
  void operator()() {
    using namespace std::chrono;
    const auto waited = steady_clock::now() - start_;
    if (waited < kYielding) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(
          std::clamp<nanoseconds>(waited / 64, kShortest, kLongest));
    }
  }

 private:
  static constexpr std::chrono::microseconds kYielding{100};
  static constexpr std::chrono::microseconds kShortest{20};
  static constexpr std::chrono::microseconds kLongest{1000};
  const std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

// For the time of a wait the lock is free and the hooks are told. The lock is
// not held while a hook runs: it may take another one.
class Away {
 public:
  Away(Lock& lock, const WaitHooks& hooks) : lock_(lock), hooks_(hooks) {
    lock_.unlock();
    if (hooks_.begin != nullptr) state_ = hooks_.begin();
  }
  ~Away() {
    if (hooks_.end != nullptr) hooks_.end(state_);
    lock_.lock();
  }
  Away(const Away&) = delete;
  Away& operator=(const Away&) = delete;

 private:
  Lock& lock_;
  const WaitHooks& hooks_;
  void* state_ = nullptr;
};

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

void Context::poll() {
  implementation->poll(target());
  if (stream != nullptr) stream->observe();
}

bool Context::wait(Lock& lock, const std::function<bool()>& done) {
  if (done()) return true;
  ++stats.waits;
  poll();
  int turns_after_loss = 0;
  Pause pause;
  // Asked again after each absence: what was done need not stay so.
  while (!done()) {
    if (turns_after_loss > kPatience) return false;
    const Away away(lock, waiting);
    for (bool over = false; !over;) {
      pause();
      const std::lock_guard held(mutex);
      poll();
      if (errors.lost()) ++turns_after_loss;
      over = done() || turns_after_loss > kPatience;
    }
  }
  return true;
}

void Context::abandon(std::unique_ptr<Completion> completion) noexcept {
  try {
    abandoned_.push_back(std::move(completion));
  } catch (const std::bad_alloc&) {
    [[maybe_unused]] auto* leaked = completion.release();
  }
}

void Context::await(std::unique_ptr<Completion>& completion,
                    WGPUFuture future) {
  for (int turn = 0; !completion->done; ++turn) {
    if (errors.lost() && turn > kPatience) {
      abandon(std::move(completion));
      errors.rethrow();
    }
    if (errors.lost()) {
      implementation->poll(target());
    } else {
      implementation->wait(target(future));
    }
    // A wait that makes no progress must not burn the core.
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
