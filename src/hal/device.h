#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hal/buffer_pool.h"
#include "hal/device_info.h"
#include "hal/errors.h"
#include "hal/implementation.h"
#include "hal/kernel.h"
#include "hal/stream.h"

namespace torch_webgpu::hal {

class BindGroupCache;
class PipelineCache;
struct Context;

struct DeviceOptions {
  ImplementationKind implementation = ImplementationKind::Wgpu;
  ProcSource procs;
  // "" = best; a number = index; else a case-insensitive part of the name.
  std::string adapter;
  bool validation = false;    // bounds-checked shaders
  uint32_t window = 64;       // commands per submit
  uint64_t memory_limit = 0;  // bytes; 0 = derive (CPU adapters: 7/8 of RAM)
  // Where compiled shaders are kept between processes, if the implementation
  // can; "" = nowhere.
  std::string cache_folder;
  // For what the layers above keep between processes; unused here. "" = none.
  std::string tuning_folder;
  WaitHooks waiting;
};

// In the order in which DeviceOptions::adapter counts them.
std::vector<DeviceInfo> list_adapters(const DeviceOptions& options);
// The adapter that Device::create would take; throws Unavailable like it.
DeviceInfo find_adapter(const DeviceOptions& options);

// One WebGPU device and all that belongs to it. Every method may be called from
// any thread; one lock guards the device, and nobody waits for the GPU with it.
class Device {
 public:
  static std::unique_ptr<Device> create(const DeviceOptions& options);
  ~Device();  // waits until idle; safe in any state, also after loss
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const;
  BufferPool& pool() { return *pool_; }
  Stream& stream() { return *stream_; }
  // Cached by source, bindings and entry point; the Kernel lives as long as the
  // Device. Throws ShaderError. It hashes the whole source: hot paths keep the
  // reference.
  const Kernel& compile(const ShaderSource& source);
  Stats stats();
  void throw_pending_errors();

  // Destroys the WebGPU device under our feet; with `tell` the loss is known at
  // once, else the implementation has to report it, as for a failing driver.
  void lose_for_testing(bool tell = true);
  // As if a callback had reported a validation error.
  void inject_error_for_testing(const std::string& message);

 private:
  Device(std::unique_ptr<Context> context, const DeviceOptions& options);

  // First, so that it outlives the parts.
  std::unique_ptr<Context> context_;
  std::unique_ptr<PipelineCache> pipelines_;
  std::unique_ptr<BindGroupCache> bind_groups_;
  std::unique_ptr<BufferPool> pool_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace torch_webgpu::hal
