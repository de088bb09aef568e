#include <algorithm>
#include <cctype>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

TEST(Adapter, ListedAndDescribed) {
  const auto adapters = list_adapters(options());
  ASSERT_FALSE(adapters.empty());
  for (const DeviceInfo& info : adapters) {
    EXPECT_FALSE(info.name.empty());
    EXPECT_NE(info.backend, "unknown") << info.name;
    EXPECT_TRUE(info.implementation == "wgpu" || info.implementation == "dawn");
    EXPECT_TRUE(info.adapter_type == "cpu" || info.adapter_type == "discrete" ||
                info.adapter_type == "integrated" ||
                info.adapter_type == "unknown");
  }
}

TEST(Adapter, ChosenByIndex) {
  const auto adapters = list_adapters(options());
  for (size_t i = 0; i < adapters.size(); ++i) {
    DeviceOptions wish = options();
    wish.adapter = std::to_string(i);
    EXPECT_EQ(Device::create(wish)->info().name, adapters[i].name);
  }
}

TEST(Adapter, ChosenByPartOfTheNameInAnyCase) {
  const std::string name = shared_device().info().name;
  DeviceOptions wish = options();
  wish.adapter = name.substr(0, 5);
  std::transform(wish.adapter.begin(), wish.adapter.end(), wish.adapter.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  EXPECT_EQ(Device::create(wish)->info().name, name);
}

TEST(Adapter, BestIsNotACpuIfThereIsAnother) {
  const auto adapters = list_adapters(options());
  const bool only_cpus =
      std::all_of(adapters.begin(), adapters.end(),
                  [](const auto& info) { return info.adapter_type == "cpu"; });
  EXPECT_EQ(shared_device().info().adapter_type == "cpu", only_cpus);
}

TEST(Adapter, UnknownNameListsTheNames) {
  DeviceOptions wish = options();
  wish.adapter = "no such gpu";
  const auto text = message_of<Unavailable>([&] { Device::create(wish); });
  EXPECT_TRUE(contains(text, "no such gpu")) << text;
  EXPECT_TRUE(contains(text, "TORCH_WEBGPU_ADAPTER")) << text;
  EXPECT_TRUE(contains(text, shared_device().info().name)) << text;
}

TEST(Adapter, UnknownIndexListsTheNames) {
  DeviceOptions wish = options();
  wish.adapter = "99";
  const auto text = message_of<Unavailable>([&] { Device::create(wish); });
  EXPECT_TRUE(contains(text, "number 99")) << text;
  EXPECT_TRUE(contains(text, shared_device().info().name)) << text;
}

TEST(Adapter, LimitsAreAtLeastWebGpusDefaults) {
  const Limits& limits = shared_device().info().limits;
  EXPECT_GE(limits.max_buffer_size, uint64_t{256} << 20);
  EXPECT_EQ(limits.max_buffer_size % 4, 0u);
  EXPECT_GE(limits.max_storage_binding_size, uint64_t{128} << 20);
  EXPECT_GE(limits.max_storage_buffers, 8u);
  EXPECT_GE(limits.max_workgroups_per_dimension, 65535u);
  EXPECT_GE(limits.max_workgroup_invocations, 256u);
  EXPECT_GE(limits.max_workgroup_size_x, 256u);
  EXPECT_GE(limits.max_workgroup_storage, 16384u);
  EXPECT_LE(limits.storage_offset_alignment, 256u);
  EXPECT_LE(limits.uniform_offset_alignment, 256u);
}

// The device must have been asked for the adapter's full limits.
TEST(Adapter, AllStorageBuffersCanBeBound) {
  Device& device = shared_device();
  const uint32_t count = device.info().limits.max_storage_buffers;
  ShaderSource source;
  source.label = "test_all_bindings";
  source.has_params = false;
  std::string sum = "0.0";
  for (uint32_t i = 0; i + 1 < count; ++i) {
    const std::string n = std::to_string(i);
    source.bindings.push_back(Access::Read);
    source.wgsl += "@group(0) @binding(" + n + ") var<storage, read> b" + n +
                   ": array<f32>;\n";
    sum += " + b" + n + "[0]";
  }
  source.bindings.push_back(Access::ReadWrite);
  source.wgsl += "@group(0) @binding(" + std::to_string(count - 1) +
                 ") var<storage, read_write> out: array<f32>;\n"
                 "@compute @workgroup_size(1) fn main() { out[0] = " +
                 sum + "; }";
  const Scoped one(device, std::vector<float>{1.0f}), out(device, 4);
  std::vector<BufferBinding> bindings(count, BufferBinding{one});
  bindings.back() = {out};
  device.stream().dispatch(device.compile(source), bindings, {}, {});
  EXPECT_EQ(out.read(1)[0], static_cast<float>(count - 1));
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
