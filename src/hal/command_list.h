#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "hal/kernel.h"

namespace torch_webgpu::hal {

struct Context;

struct Grid {
  uint32_t x = 1, y = 1, z = 1;
};

// The commands of an open window. They are kept, not encoded at once, so that
// pipelines can be made meanwhile; encode() waits for those that are not ready.
// Handles are borrowed: whoever releases one encodes the list before. The
// Device's lock is held for every call.
class CommandList {
 public:
  struct Dispatch {
    const Kernel* kernel;
    WGPUBindGroup buffers;
    uint32_t params_offset;
    Grid grid;
    // If there are any, the dispatch has a pass of its own.
    std::optional<WGPUPassTimestampWrites> timestamps;
  };
  struct Copy {
    WGPUBuffer src;
    uint64_t src_offset;
    WGPUBuffer dst;
    uint64_t dst_offset;
    uint64_t bytes;
  };
  struct Clear {
    WGPUBuffer buffer;
    uint64_t offset;
    uint64_t bytes;
  };
  struct ResolveQueries {
    WGPUQuerySet queries;
    uint32_t count;
    WGPUBuffer dst;
  };
  using Command = std::variant<Dispatch, Copy, Clear, ResolveQueries>;

  explicit CommandList(Context& context) : context_(context) {}

  void add(const Command& command) { commands_.push_back(command); }
  size_t size() const { return commands_.size(); }
  bool empty() const { return commands_.empty(); }
  void clear() { commands_.clear(); }

  // `params` is the bind group that params_offset counts in. The caller
  // releases the result. Throws ShaderError, Error or DeviceLost; the list
  // stays as it is.
  WGPUCommandBuffer encode(WGPUBindGroup params) const;

 private:
  void await_pipelines() const;

  Context& context_;
  std::vector<Command> commands_;
};

}  // namespace torch_webgpu::hal
