#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hal/procs.h"

namespace torch_webgpu::hal {

enum class Access : uint8_t { Read, ReadWrite };

struct ShaderSource {
  // Readable, e.g. "softmax_f16_strided": the pipeline's label, the profiler's
  // row and the error's prefix.
  std::string label;
  // group(0): storage buffers, binding i = bindings[i]; group(1) binding(0):
  // the uniform parameters (at most 512 bytes), if has_params.
  std::string wgsl;
  std::vector<Access> bindings;
  bool has_params = true;
  std::string entry_point = "main";
  // False for WGSL that a user supplies: bounds-checked where the
  // implementation can choose per module (wgpu); Dawn chooses per device.
  bool trusted = true;
  // The HAL adds `enable subgroups;` where the implementation wants it.
  bool subgroups = false;
  // The pipeline may be made while the caller goes on, where the implementation
  // can; if it cannot be made, its dispatches do not run, and calls that use
  // their results throw. For sources that are known to compile.
  bool deferrable = false;
};

// A compiled entry point; owned by the Device.
class Kernel {
 public:
  const std::string& label() const { return label_; }
  bool has_params() const { return has_params_; }
  // Null while it is being made, and if it could not be.
  WGPUComputePipeline pipeline() const { return pipeline_; }
  bool pending() const { return pipeline_ == nullptr && failure_.empty(); }

 private:
  friend class PipelineCache;
  friend class Stream;

  std::string label_;
  std::vector<Access> bindings_;
  bool has_params_ = false;
  bool writes_ = false;                   // any ReadWrite binding
  WGPUBindGroupLayout layout_ = nullptr;  // borrowed from the layout cache
  // Both are written by PipelineCache alone, under the Device's lock.
  WGPUComputePipeline pipeline_ = nullptr;
  std::string failure_;  // why there is no pipeline
};

}  // namespace torch_webgpu::hal
