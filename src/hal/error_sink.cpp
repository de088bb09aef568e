#include "hal/error_sink.h"

#include <utility>

#include "hal/errors.h"

namespace torch_webgpu::hal {

void throw_error(WGPUErrorType type, const std::string& message) {
  if (type == WGPUErrorType_OutOfMemory) {
    throw OutOfMemory("WebGPU ran out of memory: " + message);
  }
  if (type == WGPUErrorType_Validation) {
    throw Error("WebGPU validation error: " + message);
  }
  throw Error("WebGPU internal error: " + message);
}

void ErrorSink::store(WGPUErrorType type, WGPUStringView message) noexcept {
  const std::lock_guard lock(mutex_);
  if (type_ != WGPUErrorType_NoError) return;
  type_ = type;
  try {
    message_ = to_string(message);
  } catch (...) {
    message_.clear();  // out of host memory: the type alone is kept
  }
  pending_ = true;
}

bool ErrorSink::notice_loss(const std::string& message) noexcept {
  if (message.find("device is lost") == std::string::npos) return false;
  lose("driver failure", view(message));
  return true;
}

void ErrorSink::lose(const char* reason, WGPUStringView message) noexcept {
  const std::lock_guard lock(mutex_);
  if (lost_) return;
  try {
    lost_reason_ = reason;
    const std::string text = to_string(message);
    if (!text.empty()) lost_reason_ += ": " + text;
  } catch (...) {
    lost_reason_.clear();
  }
  lost_ = true;
  pending_ = true;
}

void ErrorSink::rethrow() {
  const std::lock_guard lock(mutex_);
  if (lost_) {
    throw DeviceLost("the WebGPU device was lost (" + lost_reason_ +
                     "); restart the process to use it again.");
  }
  if (type_ == WGPUErrorType_NoError) return;
  const WGPUErrorType type = std::exchange(type_, WGPUErrorType_NoError);
  const std::string message = std::exchange(message_, {});
  pending_ = false;
  throw_error(type, message);
}

void ErrorSink::on_uncaptured(WGPUDevice const*, WGPUErrorType type,
                              WGPUStringView message, void* sink,
                              void*) noexcept {
  auto* self = static_cast<ErrorSink*>(sink);
  try {
    if (self->notice_loss(to_string(message))) return;
  } catch (...) {
    // Out of host memory: an error like any other.
  }
  self->store(type, message);
}

void ErrorSink::on_lost(WGPUDevice const*, WGPUDeviceLostReason reason,
                        WGPUStringView message, void* sink, void*) noexcept {
  const char* text = reason == WGPUDeviceLostReason_Destroyed ? "destroyed"
                     : reason == WGPUDeviceLostReason_FailedCreation
                         ? "creation failed"
                         : "driver failure";
  static_cast<ErrorSink*>(sink)->lose(text, message);
}

}  // namespace torch_webgpu::hal
