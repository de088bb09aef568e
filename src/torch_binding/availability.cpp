#include "torch_binding/availability.h"

#include <exception>
#include <mutex>
#include <optional>

#include "ops/runtime/runtime.h"

namespace torch_webgpu::binding {
namespace {

struct Answer {
  std::mutex mutex;
  std::optional<std::string> reason;  // empty string: available
};

Answer& answer() {
  static Answer* answer = new Answer;
  return *answer;
}

std::string look() {
  try {
    if (ops::device_created()) {
      return "";
    }
    hal::find_adapter(ops::device_options());
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::string unavailable_reason() {
  // Before the remembered answer, which may be the parent's.
  if (ops::in_bad_fork()) {
    return "webgpu: the process was forked after the device was used; start it "
           "with the 'spawn' method.";
  }
  {
    std::lock_guard lock(answer().mutex);
    if (answer().reason) {
      return *answer().reason;
    }
  }
  // Looked up without the lock, because the options' callback takes the
  // interpreter's lock; two threads may look at once and agree.
  std::string reason = look();
  std::lock_guard lock(answer().mutex);
  answer().reason = reason;
  return reason;
}

bool available() noexcept {
  try {
    return unavailable_reason().empty();
  } catch (...) {
    return false;
  }
}

}  // namespace torch_webgpu::binding
