#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hal/backlog.h"
#include "hal/bind_group_cache.h"
#include "hal/command_list.h"
#include "hal/timestamps.h"

namespace torch_webgpu::hal {

class Buffer;
struct Context;

struct BufferBinding {
  Buffer* buffer;
  uint64_t offset = 0;  // a multiple of limits.storage_offset_alignment
  uint64_t size = 0;    // 0 = to the end
};

// A 1-D count of workgroups as x and y; x * y may exceed the count, so the
// kernel computes wg.y * num_workgroups.x + wg.x and checks its bound.
Grid fold(uint64_t workgroups, uint32_t max_per_dimension);

// The device's one ordered command stream; any thread, one lock inside. Work is
// gathered in a window (one command buffer) and submitted when `window`
// commands are recorded, they are expected to take long, the parameters are
// full, or somebody waits or reads. A call that would open a further window
// waits while more is queued than the GPU does in half a second.
//
// Whoever waits holds no lock: other threads record, allocate and read
// meanwhile. Where a submit itself waits for the GPU, a window grows until the
// one before is over.
//
// Arguments are checked here, so that no recorded command can invalidate the
// window: wrong ones throw Error before anything is recorded. Every call throws
// what callbacks have stored since the last one.
//
// A dispatch whose pipeline cannot be made does not run, nor does what uses its
// results; everything else does. The first call that needs memory which such a
// command was to write throws its ShaderError, once for each buffer, and
// synchronize() throws it if nobody has yet.
class Stream {
 public:
  static constexpr size_t kMaxParams = 512;
  static constexpr uint64_t kReadAtOnce = uint64_t{256} << 20;

  Stream(Context& context, uint32_t window);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Nothing happens if a dimension of the grid is 0. A buffer may be bound
  // twice only if all its bindings are Read, or all are ReadWrite and apart.
  void dispatch(const Kernel& kernel, std::span<const BufferBinding> bindings,
                std::span<const std::byte> params, Grid grid);
  // Offsets and bytes are multiples of 4; ranges in one buffer may overlap.
  void copy(Buffer* src, uint64_t src_offset, Buffer* dst, uint64_t dst_offset,
            uint64_t bytes);
  // Fills with zeros; offset and bytes are multiples of 4.
  void clear(Buffer* buffer, uint64_t offset, uint64_t bytes);
  // The offset is a multiple of 4; bytes too, unless the write reaches the end
  // of what was requested (then the last word is padded with zeros). The data
  // is taken before the call returns.
  void write(Buffer* dst, uint64_t offset, const void* data, uint64_t bytes);
  // Any offset and size; waits. The data is that of one point of the stream, up
  // to kReadAtOnce; larger ones are read in several steps.
  void read(Buffer* src, uint64_t offset, void* data, uint64_t bytes);

  // Where kernels report wrong data (an index out of range): four words, which
  // are a code (not 0; the first report wins), a signed 64-bit value and its
  // bound. The next read() or synchronize() clears them and throws Fault. Made
  // on first use; a dispatch that binds it makes the stream look.
  Buffer* fault_buffer();

  void flush();  // submits the open window
  // A serial that stands for all work recorded so far; flushes nothing.
  uint64_t record();
  bool done(uint64_t serial);  // submits if needed, polls, never waits
  void wait(uint64_t serial);
  void synchronize();  // wait(record())

  void set_window(uint32_t window);  // 1 = exactly one submit per command
  // Each dispatch in a pass of its own with timestamps; throws Error if the
  // adapter has none.
  void set_profiling(bool on);
  std::vector<KernelTiming> take_timings();  // waits

 private:
  friend class BindGroupCache;
  friend class BufferPool;
  friend class Device;
  friend struct Context;
  friend class TimestampRecorder;

  using Lock = std::unique_lock<std::mutex>;
  // A part of a read, on its way to the host. Nobody else has its buffer.
  struct Readback;
  class Readbacks;

  // How many windows the host may be ahead; wgpu-native's host memory grows
  // with them.
  static constexpr uint64_t kMaxAhead = 64;
  static constexpr uint64_t kParamsCapacity = 1024 * 1024;
  // How far a window grows while it cannot be submitted, and how often a
  // recording thread looks whether it can.
  static constexpr size_t kMaxCommands = 4096;
  static constexpr size_t kCommandsPerLook = 16;
  // Largest piece of one host transfer.
  static constexpr uint64_t kTransferChunk = 64 << 20;
  // What a small host write counts: its staging object, not its bytes.
  static constexpr uint64_t kWriteCost = 64 << 10;

  void resolve(const Kernel& kernel, std::span<const BufferBinding> bindings);
  void check_aliases(const Kernel& kernel) const;
  uint64_t params_slot(std::span<const std::byte> params) const;
  uint32_t place_params(std::span<const std::byte> params);
  void ensure_params_buffer();
  bool used_in_window(const Buffer* buffer) const;

  // Both start a call that records: the one before anything else, since it
  // waits while too much is queued; the other when nothing can fail any more.
  void open(Lock& lock);
  void add(const CommandList::Command& command,
           std::span<const CommandList::Use> uses = {});
  // Ends such a call: submits the window if it is full.
  void close(Lock& lock);
  CommandList::Use use(Buffer* buffer, bool written);

  void copy_locked(Buffer* src, uint64_t src_offset, Buffer* dst,
                   uint64_t dst_offset, uint64_t bytes);
  // Copies from any buffer with COPY_SRC to the host, if it is given, and looks
  // at the faults. `owner` is the tensor's buffer, if it is one.
  void read_back(Lock& lock, WGPUBuffer src, Buffer* owner, uint64_t offset,
                 void* data, uint64_t bytes);
  void start(Readback& part, WGPUBuffer src, Buffer* owner, uint64_t offset);
  void map(Readback& part);
  void give_back(Readback& part) noexcept;

  bool busy() const;  // the GPU, as far as the host knows
  // Whether the open window can be submitted without a wait.
  bool submittable() const;
  void await_submittable(Lock& lock);
  void flush_locked();  // expects submittable()
  void submit(Lock& lock);
  void submit_window(WGPUCommandBuffer commands);
  void close_window() noexcept;
  void wait_for(Lock& lock, uint64_t serial);
  void wait_idle(Lock& lock);
  void observe();  // after each poll

  void drop_failed();
  void check_failed(const Buffer* buffer);  // throws ShaderError, once
  void forgive(const Buffer* buffer, uint64_t offset, uint64_t bytes);
  void throw_untold();

  Context& context_;
  uint32_t window_;
  bool profiling_ = false;
  TimestampRecorder timestamps_;

  // The open window.
  CommandList commands_;
  uint64_t written_ = 0;  // cost of host writes since the last submit
  bool dirty_ = false;    // something waits for a submit
  uint64_t serial_ = 1;   // of the open window

  uint64_t submitted_ = 0;  // serial of the last submitted window
  const bool submit_waits_;
  Backlog backlog_;

  WGPUBuffer params_buffer_ = nullptr;
  WGPUBindGroup params_group_ = nullptr;
  std::vector<std::byte> params_;
  uint64_t params_used_ = 0;

  std::unique_ptr<Buffer> faults_;
  bool faults_used_ = false;  // since the host last looked

  // Memory that was never written, because a kernel could not be made.
  struct Failure {
    uint64_t allocation;
    std::string text;
  };
  std::unordered_map<const Buffer*, Failure> failures_;
  std::string untold_;  // the first failure that no call has thrown yet

  std::vector<BindGroupCache::Piece> pieces_;  // scratch of dispatch
  std::vector<CommandList::Use> uses_;         // the same
  // Mappable buffers that nobody uses, by size class.
  std::multimap<uint64_t, WGPUBuffer> staging_;
};

}  // namespace torch_webgpu::hal
