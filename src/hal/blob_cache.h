#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace torch_webgpu::hal {

// Compiled shaders on disk, one file per entry, shared by processes. A cache
// never fails its user: whatever goes wrong with a file (no permission, a full
// disk, another version's or a damaged file) reads as "not there". Any thread;
// no lock, because files appear and go as a whole.
class BlobCache {
 public:
  using Bytes = std::span<const std::byte>;

  // An empty name switches the cache off.
  explicit BlobCache(const std::string& folder);

  bool enabled() const { return !folder_.empty(); }
  std::optional<std::vector<std::byte>> load(Bytes key) const noexcept;
  void store(Bytes key, Bytes value) noexcept;

  // Entries found, and entries written.
  uint64_t loads() const { return loads_; }
  uint64_t stores() const { return stores_; }

 private:
  std::filesystem::path file_of(Bytes key) const;
  // Drops the entries that were written first while the folder is too large.
  void trim() const;

  std::filesystem::path folder_;
  mutable std::atomic<uint64_t> loads_ = 0;
  std::atomic<uint64_t> stores_ = 0;
};

}  // namespace torch_webgpu::hal
