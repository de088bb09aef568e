#include <functional>

#include "fixture.h"
#include "hal/errors.h"

namespace torch_webgpu::hal::testing {
namespace {

struct Report {
  uint32_t code, low, high, bound;
};

// Reports its parameters unless somebody has reported before.
void report(Device& device, const Report& words) {
  ShaderSource source;
  source.label = "report";
  source.wgsl = R"(
    @group(0) @binding(0) var<storage, read_write> fault: array<u32>;
    @group(1) @binding(0) var<uniform> p: vec4<u32>;
    @compute @workgroup_size(1) fn main() {
      if fault[0] == 0u {
        fault[0] = p.x;
        fault[1] = p.y;
        fault[2] = p.z;
        fault[3] = p.w;
      }
    })";
  source.bindings = {Access::ReadWrite};
  const BufferBinding binding{device.stream().fault_buffer()};
  device.stream().dispatch(device.compile(source), {&binding, 1},
                           bytes_of(words), {1, 1, 1});
}

Fault raised_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Fault& fault) {
    return fault;
  }
  ADD_FAILURE() << "no fault";
  return {0, 0, 0};
}

TEST(Faults, SynchronizeRaisesTheFirstReportOnce) {
  Device& device = shared_device();
  report(device, {7, 0xfffffffe, 0xffffffff, 5});
  report(device, {8, 1, 0, 5});
  const Fault fault = raised_by([&] { device.stream().synchronize(); });
  EXPECT_EQ(fault.code, 7u);
  EXPECT_EQ(fault.value, -2);
  EXPECT_EQ(fault.bound, 5u);
  EXPECT_NO_THROW(device.stream().synchronize());
}

TEST(Faults, ReadRaises) {
  Device& device = shared_device();
  const Scoped data(device, std::vector<float>{1.0f, 2.0f});
  report(device, {1, 0, 1, 5});
  const Fault fault = raised_by([&] { data.read(2); });
  EXPECT_EQ(fault.value, int64_t{1} << 32);
  EXPECT_EQ(data.read(2), (std::vector<float>{1.0f, 2.0f}));
}

TEST(Faults, AKernelThatReportsNothingIsNoFault) {
  Device& device = shared_device();
  report(device, {0, 1, 0, 5});
  EXPECT_NO_THROW(device.stream().synchronize());
}

// Only work that could have reported costs a look.
TEST(Faults, SynchronizeLooksOnlyAfterAKernelThatCanReport) {
  Device& device = shared_device();
  device.stream().synchronize();
  const uint64_t before = device.stats().submits;
  device.stream().synchronize();
  EXPECT_EQ(device.stats().submits, before);
  report(device, {0, 0, 0, 0});
  device.stream().synchronize();
  EXPECT_EQ(device.stats().submits, before + 1);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
