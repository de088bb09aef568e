#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "hal/kernel.h"

namespace torch_webgpu::hal {

class Buffer;
struct Context;

struct Grid {
  uint32_t x = 1, y = 1, z = 1;
};

// The commands of an open window. They are kept, not encoded at once, so that
// pipelines can be made meanwhile, and so that a command whose pipeline cannot
// be made is left out alone. Handles are borrowed: whoever releases one waits
// until the list is cleared. The Device's lock is held for every call.
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

  // A tensor's memory that a command reads or writes. The allocation tells it
  // from other tensors that have the same buffer before or after.
  struct Use {
    Buffer* buffer;
    uint64_t allocation;
    bool written;
    bool same(const Use& other) const {
      return buffer == other.buffer && allocation == other.allocation;
    }
  };
  // Memory that was to be written by a command that did not run.
  struct Missing {
    Use use;
    const Kernel* kernel;  // that could not be made
  };

  explicit CommandList(Context& context) : context_(context) {}

  void add(const Command& command, std::span<const Use> uses = {});
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  void clear();

  // Whether no pipeline is still being made.
  bool ready() const;
  // Removes the dispatches of kernels without a pipeline, and what uses their
  // results. Expects ready().
  std::vector<Missing> drop_failed();
  // Expects ready(), and that nothing has failed. `params` is the bind group
  // that params_offset counts in. The caller releases the result. Throws Error
  // or DeviceLost; the list stays as it is.
  WGPUCommandBuffer encode(WGPUBindGroup params) const;

 private:
  struct Entry {
    Command command;
    size_t first_use;  // in uses_
    size_t use_count;
  };
  std::span<const Use> uses_of(const Entry& entry) const {
    return std::span(uses_).subspan(entry.first_use, entry.use_count);
  }

  Context& context_;
  std::vector<Entry> entries_;
  std::vector<Use> uses_;
};

}  // namespace torch_webgpu::hal
