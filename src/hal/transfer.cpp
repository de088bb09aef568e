#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "hal/buffer_pool.h"
#include "hal/context.h"
#include "hal/errors.h"
#include "hal/stream.h"

// The copying half of Stream.

namespace torch_webgpu::hal {
namespace {

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
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  check_range("copy from", src != nullptr && src->live_,
              src != nullptr ? src->size_ : 0, src_offset, bytes, 4);
  check_range("copy to", dst != nullptr && dst->live_,
              dst != nullptr ? dst->size_ : 0, dst_offset, bytes, 4);
  if (bytes == 0) return;
  if (src != dst) {
    copy_locked(src, src_offset, dst, dst_offset, bytes);
    return;
  }
  // WebGPU does not copy within one buffer.
  Buffer* temporary = context_.pool->allocate_locked(bytes);
  try {
    copy_locked(src, src_offset, temporary, 0, bytes);
    copy_locked(temporary, 0, dst, dst_offset, bytes);
  } catch (...) {
    context_.pool->free_locked(temporary);
    throw;
  }
  context_.pool->free_locked(temporary);
}

void Stream::copy_locked(Buffer* src, uint64_t src_offset, Buffer* dst,
                         uint64_t dst_offset, uint64_t bytes) {
  use(src);
  use(dst);
  ++context_.stats.copies;
  append(CommandList::Copy{src->handle_, src_offset, dst->handle_, dst_offset,
                           bytes});
}

void Stream::clear(Buffer* buffer, uint64_t offset, uint64_t bytes) {
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  check_range("clear", buffer != nullptr && buffer->live_,
              buffer != nullptr ? buffer->size_ : 0, offset, bytes, 4);
  if (bytes == 0) return;
  use(buffer);
  ++context_.stats.copies;
  append(CommandList::Clear{buffer->handle_, offset, bytes});
}

void Stream::write(Buffer* dst, uint64_t offset, const void* data,
                   uint64_t bytes) {
  const std::lock_guard lock(context_.mutex);
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
  // The queue writes at once, before what is only recorded.
  if (used_in_window(dst)) flush_locked();
  const auto* from = static_cast<const std::byte*>(data);
  const uint64_t words = bytes / 4 * 4;
  for (uint64_t at = 0; at < words; at += kTransferChunk) {
    const uint64_t chunk = std::min(words - at, kTransferChunk);
    context_.procs.QueueWriteBuffer(context_.queue, dst->handle_, offset + at,
                                    from + at, chunk);
    dirty_ = true;
    written_ += std::max(chunk, kWriteCost);
    // An implementation keeps a copy of the data until a submit.
    if (written_ >= kTransferChunk) flush_locked();
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
  const std::lock_guard lock(context_.mutex);
  context_.require_healthy();
  const bool live = src != nullptr && src->live_;
  check_range("read", live, live ? src->size_ : 0, offset, bytes, 1);
  auto* to = static_cast<std::byte*>(data);
  // Words at the ends that are only partly wanted come by way of `word`.
  while (bytes > 0) {
    const uint64_t lead = offset % 4;
    if (lead != 0 || bytes < 4) {
      std::byte word[4];
      read_back(src->handle_, offset - lead, word, sizeof(word));
      const uint64_t wanted = std::min(4 - lead, bytes);
      std::memcpy(to, word + lead, wanted);
      offset += wanted;
      to += wanted;
      bytes -= wanted;
      continue;
    }
    const uint64_t chunk = std::min(bytes / 4 * 4, kTransferChunk);
    read_back(src->handle_, offset, to, chunk);
    offset += chunk;
    to += chunk;
    bytes -= chunk;
  }
  ++context_.stats.readbacks;
}

WGPUBuffer Stream::staging(uint64_t bytes) {
  const uint64_t size = std::bit_ceil(std::max<uint64_t>(bytes, 256));
  const auto it = staging_.find(size);
  if (it != staging_.end()) return it->second;
  WGPUBuffer buffer =
      context_.create_buffer(WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst,
                             size, "torch_webgpu staging");
  staging_.emplace(size, buffer);
  return buffer;
}

void Stream::read_back(WGPUBuffer src, uint64_t offset, void* data,
                       uint64_t bytes) {
  const Procs& procs = context_.procs;
  std::array<uint32_t, 4> faults = {};
  const bool look = std::exchange(faults_used_, false);
  const uint64_t total = bytes + (look ? sizeof faults : 0);
  WGPUBuffer buffer = staging(total);
  append(CommandList::Copy{src, offset, buffer, 0, bytes});
  if (look) {
    append(
        CommandList::Copy{faults_->handle_, 0, buffer, bytes, sizeof faults});
  }
  flush_locked();
  auto completion = std::make_unique<Completion>();
  WGPUBufferMapCallbackInfo callback = WGPU_BUFFER_MAP_CALLBACK_INFO_INIT;
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = on_mapped;
  callback.userdata1 = completion.get();
  const WGPUFuture future =
      procs.BufferMapAsync(buffer, WGPUMapMode_Read, 0, total, callback);
  ++context_.stats.waits;
  context_.await(completion, future, ring_[submitted_ % kRing].submission);
  const auto* mapped = static_cast<const std::byte*>(
      completion->success ? procs.BufferGetConstMappedRange(buffer, 0, total)
                          : nullptr);
  if (mapped == nullptr) {
    context_.require_healthy();
    throw Error("WebGPU could not map a buffer for reading: " +
                completion->message);
  }
  std::memcpy(data, mapped, bytes);
  if (look) std::memcpy(faults.data(), mapped + bytes, sizeof faults);
  procs.BufferUnmap(buffer);
  context_.require_healthy();
  if (faults[0] != 0) raise_fault(faults);
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

void Stream::raise_fault(const std::array<uint32_t, 4>& words) {
  append(CommandList::Clear{faults_->handle_, 0, faults_->size_});
  const uint64_t value = words[1] | uint64_t{words[2]} << 32;
  throw Fault(words[0], static_cast<int64_t>(value), words[3]);
}

}  // namespace torch_webgpu::hal
