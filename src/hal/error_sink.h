#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "hal/procs.h"

namespace torch_webgpu::hal {

// Keeps what callbacks report until a call on the device throws it. Callbacks
// may come from any thread and must not throw, so it has a lock of its own,
// under which nothing else is called.
class ErrorSink {
 public:
  // Keeps the first message only: later ones are mostly its consequences.
  void store(WGPUErrorType type, WGPUStringView message) noexcept;
  // Takes an error for a loss if its text says so: wgpu-native reports a lost
  // device first as a failure of the next call. Returns whether it did.
  bool notice_loss(const std::string& message) noexcept;
  // Stays for good; the first reason wins.
  void lose(const char* reason, WGPUStringView message) noexcept;

  // Cheap enough for every dispatch.
  bool pending() const noexcept {
    return pending_.load(std::memory_order_relaxed);
  }
  bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }

  // Throws DeviceLost (each time) or what is stored (once), or returns.
  void rethrow();

  static void on_uncaptured(WGPUDevice const*, WGPUErrorType, WGPUStringView,
                            void* sink, void*) noexcept;
  static void on_lost(WGPUDevice const*, WGPUDeviceLostReason, WGPUStringView,
                      void* sink, void*) noexcept;

 private:
  std::mutex mutex_;
  std::atomic<bool> pending_ = false;
  std::atomic<bool> lost_ = false;
  WGPUErrorType type_ = WGPUErrorType_NoError;
  std::string message_;
  std::string lost_reason_;
};

// Throws the exception that belongs to an error type.
[[noreturn]] void throw_error(WGPUErrorType type, const std::string& message);

}  // namespace torch_webgpu::hal
