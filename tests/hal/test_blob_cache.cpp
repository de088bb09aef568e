#include "hal/blob_cache.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

namespace fs = std::filesystem;

class BlobCacheTest : public ::testing::Test {
 protected:
  BlobCacheTest() {
    std::string name = (fs::temp_directory_path() / "blobsXXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~BlobCacheTest() override {
    std::error_code failed;
    fs::remove_all(folder_, failed);
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_))
      found.push_back(entry.path());
    return found;
  }

  fs::path folder_;
};

std::vector<std::byte> bytes(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

TEST_F(BlobCacheTest, KeepsEntriesForAnotherProcess) {
  BlobCache writer(folder_);
  EXPECT_FALSE(writer.load(bytes("key")));
  writer.store(bytes("key"), bytes("value"));
  writer.store(bytes("key"), bytes("newer"));
  writer.store(bytes(""), bytes(""));
  const BlobCache reader(folder_);
  EXPECT_EQ(reader.load(bytes("key")), bytes("newer"));
  EXPECT_EQ(reader.load(bytes("")), bytes(""));
  EXPECT_FALSE(reader.load(bytes("other")));
  EXPECT_EQ(writer.stores(), 3u);
  EXPECT_EQ(reader.loads(), 2u);
  EXPECT_EQ(files().size(), 2u) << "drafts are left";
}

TEST_F(BlobCacheTest, DamageReadsAsAbsence) {
  BlobCache cache(folder_);
  const std::string value(1000, 'v');
  cache.store(bytes("key"), bytes(value));
  const fs::path file = files().at(0);
  const auto size = fs::file_size(file);
  for (const auto place : {uint64_t{0}, uint64_t{9}, uint64_t{33}, size - 1}) {
    cache.store(bytes("key"), bytes(value));
    ASSERT_TRUE(cache.load(bytes("key")));
    std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<std::streamoff>(place))
        .put('\x7e');
    EXPECT_FALSE(cache.load(bytes("key"))) << "byte " << place;
  }
  cache.store(bytes("key"), bytes(value));
  fs::resize_file(file, size / 2);
  EXPECT_FALSE(cache.load(bytes("key")));
  fs::resize_file(file, 3);
  EXPECT_FALSE(cache.load(bytes("key")));
}

TEST_F(BlobCacheTest, UnusableFolderIsNoError) {
  const fs::path file = folder_ / "file";
  std::ofstream(file) << "no folder";
  BlobCache cache(file / "below");
  cache.store(bytes("key"), bytes("value"));
  EXPECT_FALSE(cache.load(bytes("key")));
  EXPECT_EQ(cache.stores(), 0u);
}

TEST_F(BlobCacheTest, SwitchedOff) {
  BlobCache cache("");
  EXPECT_FALSE(cache.enabled());
  cache.store(bytes("key"), bytes("value"));
  EXPECT_FALSE(cache.load(bytes("key")));
}

// The second device finds what the first one compiled, where the
// implementation can keep it, and computes the same either way.
TEST_F(BlobCacheTest, SecondDeviceLoadsWhatTheFirstStored) {
  DeviceOptions cached = options();
  cached.cache_folder = (folder_ / "shaders").string();
  const bool keeps = cached.implementation == ImplementationKind::Dawn;
  for (const bool first : {true, false}) {
    const auto device = Device::create(cached);
    const Scoped data(*device, std::vector<float>{1.0f, 2.0f});
    run_affine(*device, data, {2, 10.0f, 1.0f});
    EXPECT_EQ(data.read(2), (std::vector<float>{11.0f, 21.0f}));
    const Stats stats = device->stats();
    EXPECT_EQ(stats.cache_loads > 0, keeps && !first);
    EXPECT_EQ(stats.cache_stores > 0, keeps && first);
  }
}

TEST_F(BlobCacheTest, DeviceIgnoresDamagedEntries) {
  DeviceOptions cached = options();
  cached.cache_folder = folder_.string();
  {
    Device::create(cached)->compile(affine_shader());
  }
  for (const fs::path& file : files())
    fs::resize_file(file, fs::file_size(file) - 1);
  const auto device = Device::create(cached);
  const Scoped data(*device, std::vector<float>{1.0f, 2.0f});
  run_affine(*device, data, {2, 10.0f, 1.0f});
  EXPECT_EQ(data.read(2), (std::vector<float>{11.0f, 21.0f}));
  EXPECT_EQ(device->stats().cache_loads, 0u);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
