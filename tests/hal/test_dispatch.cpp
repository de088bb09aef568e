#include <algorithm>
#include <numeric>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST(Dispatch, AddsTwoBuffers) {
  Device& device = shared_device();
  const auto values = ramp(1000);
  const Scoped a(device, values), b(device, values), out(device, 4000);
  run_add(device, a, b, out, 1000);
  const auto result = out.read(1000);
  for (size_t i = 0; i < result.size(); ++i)
    EXPECT_EQ(result[i], 2.0f * i);
}

TEST(Dispatch, MoreWorkgroupsThanADimensionHolds) {
  Device& device = shared_device();
  const uint32_t limit = device.info().limits.max_workgroups_per_dimension;
  ShaderSource source;
  source.label = "test_count_workgroups";
  source.bindings = {Access::ReadWrite};
  source.wgsl = R"(
    struct Params { count: u32 }
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @group(1) @binding(0) var<uniform> params: Params;
    @compute @workgroup_size(1)
    fn main(@builtin(workgroup_id) wg: vec3u,
            @builtin(num_workgroups) count: vec3u) {
      let i = wg.y * count.x + wg.x;
      if (i < params.count) { data[i] = i ^ 0x5a5au; }
    }
  )";
  const uint32_t count = limit + 4465;
  const Grid grid = fold(count, limit);
  EXPECT_LE(grid.x, limit);
  EXPECT_GT(grid.y, 1u);
  EXPECT_GE(uint64_t{grid.x} * grid.y, count);
  const Scoped data(device, count * 4);
  const BufferBinding bindings[] = {{data}};
  device.stream().dispatch(device.compile(source), bindings, bytes_of(count),
                           grid);
  const auto result = data.read<uint32_t>(count);
  for (uint32_t i = 0; i < count; ++i)
    ASSERT_EQ(result[i], i ^ 0x5a5au);
}

TEST(Dispatch, FoldRejectsWhatTwoDimensionsCannotHold) {
  EXPECT_EQ(fold(7, 10).x, 7u);
  EXPECT_EQ(fold(0, 10).x, 0u);
  EXPECT_EQ(fold(100, 10).y, 10u);
  EXPECT_THROW(fold(101, 10), Error);
}

TEST(Dispatch, KernelWithoutParameters) {
  Device& device = shared_device();
  ShaderSource source;
  source.label = "test_no_params";
  source.bindings = {Access::ReadWrite};
  source.has_params = false;
  source.wgsl = R"(
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3u) { data[id.x] = id.x; }
  )";
  const Scoped data(device, 256);
  const BufferBinding bindings[] = {{data}};
  device.stream().dispatch(device.compile(source), bindings, {}, {});
  EXPECT_EQ(data.read<uint32_t>(64).back(), 63u);
}

TEST(Dispatch, EmptyGridDoesNothing) {
  Device& device = shared_device();
  const Scoped data(device, std::vector<float>(64, 1.0f));
  const BufferBinding bindings[] = {{data}};
  const uint64_t before = device.stats().dispatches;
  device.stream().dispatch(device.compile(affine_shader()), bindings,
                           bytes_of(Affine{64, 2, 0}), {0, 1, 1});
  EXPECT_EQ(device.stats().dispatches, before);
  EXPECT_EQ(data.read(1)[0], 1.0f);
}

TEST(Dispatch, LargestParameterBlock) {
  Device& device = shared_device();
  ShaderSource source;
  source.label = "test_large_params";
  source.bindings = {Access::ReadWrite};
  source.wgsl = R"(
    struct Params { words: array<vec4u, 32> }
    @group(0) @binding(0) var<storage, read_write> data: array<vec4u>;
    @group(1) @binding(0) var<uniform> params: Params;
    @compute @workgroup_size(32)
    fn main(@builtin(local_invocation_index) i: u32) {
      data[i] = params.words[i];
    }
  )";
  std::vector<uint32_t> words(128);
  std::iota(words.begin(), words.end(), 7u);
  const Scoped data(device, 512);
  const BufferBinding bindings[] = {{data}};
  device.stream().dispatch(device.compile(source), bindings,
                           std::as_bytes(std::span(words)), {});
  EXPECT_EQ(data.read<uint32_t>(128), words);
}

TEST(Dispatch, SubgroupsWhereTheAdapterHasThem) {
  Device& device = shared_device();
  if (!device.info().subgroups) {
    GTEST_SKIP() << "the adapter has no subgroups";
  }
  ShaderSource source;
  source.label = "test_subgroups";
  source.bindings = {Access::ReadWrite};
  source.has_params = false;
  source.subgroups = true;
  source.wgsl = R"(
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(64)
    fn main(@builtin(local_invocation_index) i: u32) {
      data[i] = subgroupAdd(1u);
    }
  )";
  const Scoped data(device, 256);
  const BufferBinding bindings[] = {{data}};
  device.stream().dispatch(device.compile(source), bindings, {}, {});
  const auto result = data.read<uint32_t>(64);
  EXPECT_GE(result[0], std::max(device.info().subgroup_min, 4u));
  if (device.info().subgroup_max != 0) {
    EXPECT_LE(result[0], device.info().subgroup_max);
  }
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
