#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

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
// commands are recorded, the parameters are full, or somebody waits or reads.
//
// Arguments are checked here, so that no recorded command can invalidate the
// window: wrong ones throw Error before anything is recorded. Every call throws
// what callbacks have stored since the last one.
class Stream {
 public:
  static constexpr size_t kMaxParams = 512;

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
  // Any offset and size; waits.
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

  void set_window(uint32_t window);  // 1 = one submit per command
  // Each dispatch in a pass of its own with timestamps; throws Error if the
  // adapter has none.
  void set_profiling(bool on);
  std::vector<KernelTiming> take_timings();  // waits

 private:
  friend class BindGroupCache;
  friend class BufferPool;
  friend class Device;
  friend class TimestampRecorder;

  struct Submitted {
    WGPUFuture future;
    uint64_t submission;
  };
  // How far the host may run ahead; wgpu-native's host memory grows with it.
  static constexpr uint64_t kMaxAhead = 64;
  static constexpr uint64_t kRing = 2 * kMaxAhead;
  static constexpr uint64_t kParamsCapacity = 256 * 1024;
  // Largest piece of one host transfer.
  static constexpr uint64_t kTransferChunk = 64 << 20;
  // What a small host write counts: its staging object, not its bytes.
  static constexpr uint64_t kWriteCost = 64 << 10;

  void resolve(const Kernel& kernel, std::span<const BufferBinding> bindings);
  void check_aliases(const Kernel& kernel) const;
  uint32_t place_params(std::span<const std::byte> params);
  void append(const CommandList::Command& command);
  void ensure_params_buffer();
  void use(Buffer* buffer);
  bool used_in_window(const Buffer* buffer) const;

  void copy_locked(Buffer* src, uint64_t src_offset, Buffer* dst,
                   uint64_t dst_offset, uint64_t bytes);
  // Copies from any buffer with COPY_SRC to the host; a multiple of 4 bytes.
  void read_back(WGPUBuffer src, uint64_t offset, void* data, uint64_t bytes);
  WGPUBuffer staging(uint64_t bytes);

  void flush_locked();
  void submit_window(WGPUCommandBuffer commands);
  void close_window() noexcept;
  void throttle();
  void wait_locked(uint64_t serial);
  void wait_idle_locked();
  [[noreturn]] void raise_fault(const std::array<uint32_t, 4>& words);

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
  std::array<Submitted, kRing> ring_ = {};

  WGPUBuffer params_buffer_ = nullptr;
  WGPUBindGroup params_group_ = nullptr;
  std::vector<std::byte> params_;
  uint64_t params_used_ = 0;

  std::unique_ptr<Buffer> faults_;
  bool faults_used_ = false;  // since the host last looked

  std::vector<BindGroupCache::Piece> pieces_;  // scratch of dispatch
  std::map<uint64_t, WGPUBuffer> staging_;     // by size class
};

}  // namespace torch_webgpu::hal
