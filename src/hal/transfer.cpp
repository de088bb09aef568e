#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "hal/buffer_pool.h"
#include "hal/context.h"
#include "hal/errors.h"
#include "hal/stream.h"

// The copying half of Stream.

namespace torch_webgpu::hal {
namespace {

constexpr uint64_t kSmallStaging = uint64_t{1} << 20;

void check_range(const char* what, bool live, uint64_t size, uint64_t offset,
                 uint64_t bytes, uint64_t alignment) {
  if (!live) throw Error(std::string(what) + ": the buffer is not live.");
  if (offset > size || bytes > size - offset || offset % alignment != 0 ||
      bytes % alignment != 0) {
    throw Error(std::string(what) + ": " + std::to_string(bytes) +
                " bytes at offset " + std::to_string(offset) +
                " of a buffer of " + std::to_string(size) +
                " bytes (must be inside it, in multiples of " +
                std::to_string(alignment) + ").");
  }
}

void on_mapped(WGPUMapAsyncStatus status, WGPUStringView message,
               void* completion, void*) noexcept {
  static_cast<Completion*>(completion)
      ->finish(status == WGPUMapAsyncStatus_Success, message);
}

}  // namespace

void Stream::copy(Buffer* src, uint64_t src_offset, Buffer* dst,
                  uint64_t dst_offset, uint64_t bytes) {
  Lock lock(context_.mutex);
  context_.require_healthy();
  check_range("copy from", src != nullptr && src->live_,
              src != nullptr ? src->size_ : 0, src_offset, bytes, 4);
  check_range("copy to", dst != nullptr && dst->live_,
              dst != nullptr ? dst->size_ : 0, dst_offset, bytes, 4);
  if (bytes == 0) return;
  open(lock);
  if (!failures_.empty()) {
    check_failed(src);
    forgive(dst, dst_offset, bytes);
  }
  if (src != dst) {
    copy_locked(src, src_offset, dst, dst_offset, bytes);
  } else {
    // WebGPU does not copy within one buffer.
    Buffer* temporary = context_.pool->allocate(lock, bytes);
    copy_locked(src, src_offset, temporary, 0, bytes);
    copy_locked(temporary, 0, dst, dst_offset, bytes);
    context_.pool->free(temporary);
  }
  close(lock);
}

void Stream::copy_locked(Buffer* src, uint64_t src_offset, Buffer* dst,
                         uint64_t dst_offset, uint64_t bytes) {
  const CommandList::Use uses[] = {use(src, false), use(dst, true)};
  ++context_.stats.copies;
  backlog_.add(nullptr, 0, bytes);
  add(CommandList::Copy{src->handle_, src_offset, dst->handle_, dst_offset,
                        bytes},
      uses);
}

void Stream::clear(Buffer* buffer, uint64_t offset, uint64_t bytes) {
  Lock lock(context_.mutex);
  context_.require_healthy();
  check_range("clear", buffer != nullptr && buffer->live_,
              buffer != nullptr ? buffer->size_ : 0, offset, bytes, 4);
  if (bytes == 0) return;
  open(lock);
  if (!failures_.empty()) forgive(buffer, offset, bytes);
  const CommandList::Use uses[] = {use(buffer, true)};
  ++context_.stats.copies;
  backlog_.add(nullptr, 0, bytes);
  add(CommandList::Clear{buffer->handle_, offset, bytes}, uses);
  close(lock);
}

void Stream::write(Buffer* dst, uint64_t offset, const void* data,
                   uint64_t bytes) {
  Lock lock(context_.mutex);
  context_.require_healthy();
  const bool live = dst != nullptr && dst->live_;
  check_range("write", live, live ? dst->size_ : 0, offset, bytes, 1);
  if (offset % 4 != 0 || (bytes % 4 != 0 && offset + bytes < dst->requested_)) {
    throw Error("write: " + std::to_string(bytes) + " bytes at offset " +
                std::to_string(offset) +
                " would share a word with other data of the buffer of " +
                std::to_string(dst->requested_) + " bytes.");
  }
  if (bytes == 0) return;
  open(lock);
  // The queue writes at once, before what is only recorded.
  while (used_in_window(dst) ||
         (!commands_.empty() &&
          written_ + std::max(bytes, kWriteCost) >= kTransferChunk)) {
    submit(lock);
  }
  if (!failures_.empty()) forgive(dst, offset, bytes);
  const auto* from = static_cast<const std::byte*>(data);
  const uint64_t words = bytes / 4 * 4;
  for (uint64_t at = 0; at < words; at += kTransferChunk) {
    const uint64_t chunk = std::min(words - at, kTransferChunk);
    context_.procs.QueueWriteBuffer(context_.queue, dst->handle_, offset + at,
                                    from + at, chunk);
    dirty_ = true;
    written_ += std::max(chunk, kWriteCost);
    // An implementation keeps a copy of the data until a submit.
    if (written_ >= kTransferChunk) submit(lock);
  }
  if (words != bytes) {
    std::byte tail[4] = {};
    std::memcpy(tail, from + words, bytes - words);
    context_.procs.QueueWriteBuffer(context_.queue, dst->handle_,
                                    offset + words, tail, sizeof(tail));
    dirty_ = true;
    written_ += kWriteCost;
  }
  ++context_.stats.writes;
}

void Stream::read(Buffer* src, uint64_t offset, void* data, uint64_t bytes) {
  Lock lock(context_.mutex);
  context_.require_healthy();
  const bool live = src != nullptr && src->live_;
  check_range("read", live, live ? src->size_ : 0, offset, bytes, 1);
  auto* to = static_cast<std::byte*>(data);
  while (bytes > 0) {
    const uint64_t step = std::min(bytes, kReadAtOnce - offset % 4);
    read_back(lock, src->handle_, src, offset, to, step);
    offset += step;
    to += step;
    bytes -= step;
  }
  ++context_.stats.readbacks;
}

struct Stream::Readback {
  uint64_t bytes = 0;     // whole words
  uint64_t capacity = 0;  // of the buffer
  WGPUBuffer buffer = nullptr;
  std::unique_ptr<Completion> completion;  // of the mapping
  const std::byte* mapped = nullptr;
};

// The parts of one read. The lock is held when it goes.
class Stream::Readbacks {
 public:
  explicit Readbacks(Stream& stream) : stream_(stream) {}
  ~Readbacks() {
    for (Readback& part : parts_)
      stream_.give_back(part);
  }
  Readbacks(const Readbacks&) = delete;
  Readbacks& operator=(const Readbacks&) = delete;

  Readback& add(uint64_t bytes) {
    Readback& part = parts_.emplace_back();
    part.bytes = bytes;
    return part;
  }
  // Waits until the host can see the data.
  void map(Lock& lock) {
    for (Readback& part : parts_)
      stream_.map(part);
    Context& context = stream_.context_;
    context.wait(lock, [this] {
      return std::all_of(
          parts_.begin(), parts_.end(),
          [](const Readback& part) { return part.completion->done.load(); });
    });
    for (Readback& part : parts_) {
      // wgpu-native ends the process for a mapped buffer of a lost device.
      if (part.completion->done && part.completion->success &&
          !context.errors.lost()) {
        part.mapped = static_cast<const std::byte*>(
            context.procs.BufferGetConstMappedRange(part.buffer, 0,
                                                    part.bytes));
      }
      if (part.mapped == nullptr) {
        context.require_healthy();
        throw Error("WebGPU could not map a buffer for reading: " +
                    part.completion->message);
      }
    }
  }
  const std::vector<Readback>& parts() const { return parts_; }

 private:
  Stream& stream_;
  std::vector<Readback> parts_;
};

void Stream::start(Readback& part, WGPUBuffer src, Buffer* owner,
                   uint64_t offset) {
  part.capacity = std::bit_ceil(std::max<uint64_t>(part.bytes, 256));
  if (auto kept = staging_.extract(part.capacity)) {
    part.buffer = kept.mapped();
  } else {
    part.buffer = context_.create_buffer(
        WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, part.capacity,
        "torch_webgpu staging");
  }
  const CommandList::Copy copy{src, offset, part.buffer, 0, part.bytes};
  backlog_.add(nullptr, 0, part.bytes);
  if (owner == nullptr) {
    add(copy);
  } else {
    const CommandList::Use uses[] = {use(owner, false)};
    add(copy, uses);
  }
}

void Stream::map(Readback& part) {
  part.completion = std::make_unique<Completion>();
  WGPUBufferMapCallbackInfo callback = WGPU_BUFFER_MAP_CALLBACK_INFO_INIT;
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = on_mapped;
  callback.userdata1 = part.completion.get();
  context_.procs.BufferMapAsync(part.buffer, WGPUMapMode_Read, 0, part.bytes,
                                callback);
}

void Stream::give_back(Readback& part) noexcept {
  if (part.buffer == nullptr) return;
  const Procs& procs = context_.procs;
  if (part.completion && !part.mapped) {
    // The device is lost, or worse; its callback may still come.
    procs.BufferRelease(part.buffer);
    if (!part.completion->done) context_.abandon(std::move(part.completion));
    return;
  }
  if (part.mapped) procs.BufferUnmap(part.buffer);
  // As many as a few threads use; of large ones not more than one.
  const size_t kept = part.capacity <= kSmallStaging ? 8 : 1;
  if (part.completion && staging_.count(part.capacity) >= kept) {
    procs.BufferRelease(part.buffer);
    return;
  }
  try {
    staging_.emplace(part.capacity, part.buffer);
  } catch (const std::bad_alloc&) {
    // Out of host memory: the open window may still borrow it.
  }
}

void Stream::read_back(Lock& lock, WGPUBuffer src, Buffer* owner,
                       uint64_t offset, void* data, uint64_t bytes) {
  await_submittable(lock);
  // The lock is kept until all is submitted: one point of the stream.
  Readbacks readbacks(*this);
  const uint64_t lead = offset % 4;
  const uint64_t words = (lead + bytes + 3) / 4 * 4;
  for (uint64_t at = 0; bytes > 0 && at < words; at += kTransferChunk) {
    start(readbacks.add(std::min(words - at, kTransferChunk)), src, owner,
          offset - lead + at);
  }
  std::array<uint32_t, 4> faults = {};
  const bool look = std::exchange(faults_used_, false);
  if (look) {
    start(readbacks.add(sizeof faults), faults_->handle_, nullptr, 0);
    // Each report has one reader, and what others report from here on another.
    add(CommandList::Clear{faults_->handle_, 0, faults_->size_});
  }
  flush_locked();
  if (owner != nullptr && !failures_.empty()) check_failed(owner);
  readbacks.map(lock);

  lock.unlock();  // the mapped memory is this thread's alone
  auto* to = static_cast<std::byte*>(data);
  uint64_t skip = lead;
  for (const Readback& part : readbacks.parts()) {
    if (bytes == 0) {
      std::memcpy(faults.data(), part.mapped, sizeof faults);
      break;
    }
    const uint64_t wanted = std::min(part.bytes - skip, bytes);
    std::memcpy(to, part.mapped + skip, wanted);
    to += wanted;
    bytes -= wanted;
    skip = 0;
  }
  lock.lock();
  context_.require_healthy();
  if (faults[0] != 0) {
    const uint64_t value = faults[1] | uint64_t{faults[2]} << 32;
    throw Fault(faults[0], static_cast<int64_t>(value), faults[3]);
  }
}

Buffer* Stream::fault_buffer() {
  const std::lock_guard lock(context_.mutex);
  if (!faults_) {
    auto buffer = std::make_unique<Buffer>();
    buffer->size_ = buffer->requested_ = 4 * sizeof(uint32_t);
    buffer->handle_ = context_.create_buffer(
        WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc |
            WGPUBufferUsage_CopyDst,
        buffer->size_, "torch_webgpu faults");
    buffer->id_ = Buffer::next_id();
    buffer->live_ = true;
    faults_ = std::move(buffer);
  }
  return faults_.get();
}

}  // namespace torch_webgpu::hal
