#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hal/device.h"

namespace torch_webgpu::hal::testing {

// What run_hal_tests was called with.
DeviceOptions options();

// A device shared by all tests that leave it healthy. Making one takes most of
// a test's time.
Device& shared_device();

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span<const T>(&value, 1));
}

// A buffer that frees itself.
class Scoped {
 public:
  Scoped(Device& device, uint64_t bytes)
      : device_(device), buffer_(device.pool().allocate(bytes)) {}
  template <typename T>
  Scoped(Device& device, const std::vector<T>& values)
      : Scoped(device, values.size() * sizeof(T)) {
    device.stream().write(buffer_, 0, values.data(), values.size() * sizeof(T));
  }
  ~Scoped() { device_.pool().free(buffer_); }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

  Buffer* get() const { return buffer_; }
  operator Buffer*() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }

  template <typename T = float>
  std::vector<T> read(size_t count, uint64_t offset = 0) const {
    std::vector<T> values(count);
    device_.stream().read(buffer_, offset, values.data(), count * sizeof(T));
    return values;
  }

 private:
  Device& device_;
  Buffer* buffer_;
};

// out[i] = a[i] + b[i] for i < count; params: count.
ShaderSource add_shader();
// data[i] = data[i] * scale + offset; params: count, scale, offset.
ShaderSource affine_shader();
struct Affine {
  uint32_t count;
  float scale;
  float offset;
};

void run_add(Device& device, Buffer* a, Buffer* b, Buffer* out, uint32_t count);
void run_affine(Device& device, Buffer* data, const Affine& params);

// Keeps the GPU busy: dispatches of a known length.
class Spinner {
 public:
  explicit Spinner(Device& device);
  // Records one dispatch that takes at least about so long.
  void run(double seconds);

 private:
  void loop(uint32_t count);
  Device& device_;
  Scoped data_;
  double seconds_per_loop_ = 0.0;
};

double seconds_since(std::chrono::steady_clock::time_point start);

// The text of the exception of type E that `call` throws; fails if none.
template <typename E, typename Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no exception";
  return {};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace torch_webgpu::hal::testing
