#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

// A buffer that no single binding can hold is processed in windows.
TEST(BindingLimit, LargerBufferIsBoundInWindows) {
  Device& device = shared_device();
  const Limits& limits = device.info().limits;
  const uint64_t window = limits.max_storage_binding_size / 256 * 256;
  if (window > uint64_t{512} << 20 || window + 1024 > limits.max_buffer_size) {
    GTEST_SKIP() << "a binding holds " << window << " bytes: too large to test";
  }
  const uint64_t bytes = window + 1024;
  const Scoped data(device, bytes);
  device.stream().clear(data, 0, bytes);
  const Kernel& kernel = device.compile(affine_shader());
  for (uint64_t offset = 0; offset < bytes; offset += window) {
    const uint64_t size = std::min(window, bytes - offset);
    const auto count = static_cast<uint32_t>(size / 4);
    const BufferBinding bindings[] = {{data, offset, size}};
    device.stream().dispatch(
        kernel, bindings, bytes_of(Affine{count, 1.0f, 1.0f + offset}),
        fold((count + 63) / 64, limits.max_workgroups_per_dimension));
  }
  EXPECT_EQ(data.read(1, 0)[0], 1.0f);
  EXPECT_EQ(data.read(1, window - 4)[0], 1.0f);
  EXPECT_EQ(data.read(1, window)[0], 1.0f + window);
  EXPECT_EQ(data.read(1, bytes - 4)[0], 1.0f + window);
}

TEST(BindingLimit, WholeLargerBufferIsRefused) {
  Device& device = shared_device();
  const Limits& limits = device.info().limits;
  const uint64_t bytes = limits.max_storage_binding_size + 4;
  if (bytes > limits.max_buffer_size || bytes > uint64_t{512} << 20) {
    GTEST_SKIP() << "a binding holds " << bytes << " bytes: too large to test";
  }
  const Scoped data(device, bytes);
  const BufferBinding bindings[] = {{data}};
  const auto text = message_of<Error>([&] {
    device.stream().dispatch(device.compile(affine_shader()), bindings,
                             bytes_of(Affine{1, 1.0f, 1.0f}), {});
  });
  EXPECT_TRUE(contains(text, "test_affine")) << text;
  EXPECT_TRUE(contains(text, std::to_string(limits.max_storage_binding_size)))
      << text;
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
