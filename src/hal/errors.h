#pragma once

#include <stdexcept>

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
// No implementation, library, symbol or adapter; one sentence with the remedy.
struct Unavailable : Error {
  using Error::Error;
};

}  // namespace torch_webgpu::hal
