#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace torch_webgpu::hal {

// The base of everything that src/hal throws.
struct Error : std::runtime_error {
  using runtime_error::runtime_error;
};
// The message carries what was asked for and the pool's figures.
struct OutOfMemory : Error {
  using Error::Error;
};
// Every later call on the same Device throws it again.
struct DeviceLost : Error {
  using Error::Error;
};
// WGSL did not compile; the message starts with the shader's label.
struct ShaderError : Error {
  using Error::Error;
};
// A kernel found wrong data and wrote the four words of Stream::fault_buffer();
// the work was done without that data.
struct Fault : Error {
  Fault(uint32_t code, int64_t value, uint32_t bound)
      : Error("a kernel reported fault " + std::to_string(code) + ": " +
              std::to_string(value) + " is outside of " +
              std::to_string(bound) + "."),
        code(code),
        value(value),
        bound(bound) {}
  uint32_t code;
  int64_t value;
  uint32_t bound;
};
// No implementation, library, symbol or adapter; one sentence with the remedy.
struct Unavailable : Error {
  using Error::Error;
};

}  // namespace torch_webgpu::hal
