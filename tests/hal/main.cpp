#include <algorithm>
#include <array>
#include <string>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

DeviceOptions g_options;
std::unique_ptr<Device> g_device;

// Releases the shared device while the implementation is still whole.
class Closer : public ::testing::Environment {
 public:
  void TearDown() override { g_device.reset(); }
};

}  // namespace

DeviceOptions options() {
  return g_options;
}

Device& shared_device() {
  if (g_device == nullptr) g_device = Device::create(g_options);
  return *g_device;
}

ShaderSource add_shader() {
  ShaderSource source;
  source.label = "test_add";
  source.bindings = {Access::Read, Access::Read, Access::ReadWrite};
  source.wgsl = R"(
    struct Params { count: u32 }
    @group(0) @binding(0) var<storage, read> a: array<f32>;
    @group(0) @binding(1) var<storage, read> b: array<f32>;
    @group(0) @binding(2) var<storage, read_write> c: array<f32>;
    @group(1) @binding(0) var<uniform> params: Params;
    @compute @workgroup_size(64)
    fn main(@builtin(workgroup_id) wg: vec3u,
            @builtin(num_workgroups) count: vec3u,
            @builtin(local_invocation_index) lane: u32) {
      let i = (wg.y * count.x + wg.x) * 64u + lane;
      if (i < params.count) { c[i] = a[i] + b[i]; }
    }
  )";
  return source;
}

ShaderSource affine_shader() {
  ShaderSource source;
  source.label = "test_affine";
  source.bindings = {Access::ReadWrite};
  source.wgsl = R"(
    struct Params { count: u32, scale: f32, offset: f32 }
    @group(0) @binding(0) var<storage, read_write> data: array<f32>;
    @group(1) @binding(0) var<uniform> params: Params;
    @compute @workgroup_size(64)
    fn main(@builtin(workgroup_id) wg: vec3u,
            @builtin(num_workgroups) count: vec3u,
            @builtin(local_invocation_index) lane: u32) {
      let i = (wg.y * count.x + wg.x) * 64u + lane;
      if (i < params.count) {
        data[i] = data[i] * params.scale + params.offset;
      }
    }
  )";
  return source;
}

void run_add(Device& device, Buffer* a, Buffer* b, Buffer* out,
             uint32_t count) {
  const BufferBinding bindings[] = {{a}, {b}, {out}};
  device.stream().dispatch(
      device.compile(add_shader()), bindings, bytes_of(count),
      fold((count + 63) / 64,
           device.info().limits.max_workgroups_per_dimension));
}

void run_affine(Device& device, Buffer* data, const Affine& params) {
  const BufferBinding bindings[] = {{data}};
  device.stream().dispatch(
      device.compile(affine_shader()), bindings, bytes_of(params),
      fold((params.count + 63) / 64,
           device.info().limits.max_workgroups_per_dimension));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

Spinner::Spinner(Device& device) : device_(device), data_(device, 256) {
  constexpr uint32_t kLoops = 1'000'000;
  loop(1);
  device_.stream().synchronize();
  // The shortest of some: a busy machine makes it longer, never shorter.
  seconds_per_loop_ = 1.0;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    loop(kLoops);
    device_.stream().synchronize();
    seconds_per_loop_ =
        std::min(seconds_per_loop_, seconds_since(start) / kLoops);
  }
}

void Spinner::run(double seconds) {
  loop(static_cast<uint32_t>(seconds / seconds_per_loop_));
}

void Spinner::loop(uint32_t count) {
  ShaderSource source;
  source.label = "test_spin";
  source.bindings = {Access::ReadWrite};
  source.wgsl = R"(
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @group(1) @binding(0) var<uniform> count: vec4u;
    @compute @workgroup_size(1) fn main() {
      var x = data[0];
      for (var i = 0u; i < count.x; i++) { x = (x ^ (x >> 7u)) * 1664525u + i; }
      data[0] = x;
    }
  )";
  const BufferBinding bindings[] = {{data_}};
  const std::array<uint32_t, 4> params = {count};
  device_.stream().dispatch(device_.compile(source), bindings, bytes_of(params),
                            {});
}

}  // namespace torch_webgpu::hal::testing

// Called by run.py. `get_proc_address` is null where `library` is a path.
extern "C" __attribute__((visibility("default"))) int run_hal_tests(
    int argc, char** argv, const char* implementation, const char* library,
    void* get_proc_address) {
  namespace hal = torch_webgpu::hal;
  ::testing::InitGoogleTest(&argc, argv);
  hal::testing::g_options.implementation =
      hal::parse_implementation(implementation);
  hal::testing::g_options.procs = {library, get_proc_address};
  ::testing::AddGlobalTestEnvironment(new hal::testing::Closer);
  return RUN_ALL_TESTS();
}
