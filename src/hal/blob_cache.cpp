#include "hal/blob_cache.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <fstream>
#include <system_error>
#include <utility>

namespace torch_webgpu::hal {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMagic = 0x3130'6270'6775'7774;  // also the format's version
constexpr uint64_t kMaxFolderBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxEntryBytes = uint64_t{64} << 20;
constexpr const char* kSuffix = ".blob";

// Of an entry's file; the key and the value follow. The key is kept because
// two of them may share a file name.
struct Header {
  uint64_t magic = kMagic;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  uint64_t checksum = 0;  // of the value
};

// FNV-1a: finds damage and spreads names; nobody has to be kept from forging.
uint64_t hash(BlobCache::Bytes bytes, uint64_t seed = 0xcbf29ce484222325) {
  for (const std::byte byte : bytes) {
    seed = (seed ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  }
  return seed;
}

bool read_exactly(std::istream& file, void* to, uint64_t bytes) {
  file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  return static_cast<uint64_t>(file.gcount()) == bytes;
}

}  // namespace

BlobCache::BlobCache(const std::string& folder) : folder_(folder) {
  if (!enabled()) return;
  std::error_code failed;
  fs::create_directories(folder_, failed);
  try {
    trim();
  } catch (const std::exception&) {
    // Another process changes the folder too; the next one trims it.
  }
}

std::optional<std::vector<std::byte>> BlobCache::load(
    Bytes key) const noexcept {
  if (!enabled()) return std::nullopt;
  try {
    std::ifstream file(file_of(key), std::ios::binary);
    Header header;
    if (!file || !read_exactly(file, &header, sizeof header) ||
        header.magic != kMagic || header.key_bytes != key.size() ||
        header.value_bytes > kMaxEntryBytes) {
      return std::nullopt;
    }
    std::vector<std::byte> found(key.size());
    std::vector<std::byte> value(header.value_bytes);
    if (!read_exactly(file, found.data(), found.size()) ||
        !std::equal(found.begin(), found.end(), key.begin()) ||
        !read_exactly(file, value.data(), value.size()) ||
        hash(value) != header.checksum) {
      return std::nullopt;
    }
    ++loads_;
    return value;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void BlobCache::store(Bytes key, Bytes value) noexcept {
  if (!enabled() || value.size() > kMaxEntryBytes) return;
  try {
    static std::atomic<uint64_t> counter = 0;
    const fs::path target = file_of(key);
    fs::path draft = target;
    (draft += std::to_string(getpid())) += '-';
    draft += std::to_string(++counter);
    const Header header{kMagic, key.size(), value.size(), hash(value)};
    std::ofstream file(draft, std::ios::binary);
    const auto write = [&](const void* data, size_t bytes) {
      file.write(static_cast<const char*>(data),
                 static_cast<std::streamsize>(bytes));
    };
    write(&header, sizeof header);
    write(key.data(), key.size());
    write(value.data(), value.size());
    file.close();
    std::error_code failed;
    // Readers see the whole entry or none.
    if (file) fs::rename(draft, target, failed);
    if (!file || failed) {
      fs::remove(draft, failed);
    } else {
      ++stores_;
    }
  } catch (const std::exception&) {
    // As good as not stored.
  }
}

fs::path BlobCache::file_of(Bytes key) const {
  static constexpr char kDigits[] = "0123456789abcdef";
  const uint64_t first = hash(key);
  std::string name;
  for (uint64_t part : {first, hash(key, ~first)}) {
    for (int i = 0; i < 16; ++i, part >>= 4)
      name += kDigits[part & 15];
  }
  return folder_ / (name + kSuffix);
}

void BlobCache::trim() const {
  uint64_t total = 0;
  std::vector<std::pair<fs::file_time_type, fs::directory_entry>> entries;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() != kSuffix) continue;
    total += entry.file_size();
    entries.emplace_back(entry.last_write_time(), entry);
  }
  if (total <= kMaxFolderBytes) return;
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [time, entry] : entries) {
    if (total <= kMaxFolderBytes / 2) break;
    total -= entry.file_size();
    fs::remove(entry.path());
  }
}

}  // namespace torch_webgpu::hal
