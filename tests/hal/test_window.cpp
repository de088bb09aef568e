#include <array>
#include <cstring>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

class Window : public ::testing::Test {
 protected:
  ~Window() override { device_.stream().set_window(64); }
  uint64_t submits_of(uint32_t window, int dispatches) {
    const Scoped data(device_, std::vector<float>(64, 0.0f));
    // What is new, or slow at first, is submitted in smaller windows.
    for (int i = 0; i < 4; ++i) {
      run_affine(device_, data, {64, 1.0f, 0.0f});
      device_.stream().synchronize();
    }
    device_.stream().set_window(window);
    const uint64_t before = device_.stats().submits;
    for (int i = 0; i < dispatches; ++i) {
      run_affine(device_, data, {64, 1.0f, 1.0f});
    }
    device_.stream().synchronize();
    EXPECT_EQ(data.read(1)[0], static_cast<float>(dispatches));
    // The read above makes one submit of its own.
    return device_.stats().submits - before - 1;
  }
  Device& device_ = shared_device();
};

TEST_F(Window, FullOnesAreSubmitted) {
  // More where the machine is so busy that little looks long, fewer where a
  // submit would wait for the GPU: then a window grows.
  const bool grows = device_.info().implementation == "wgpu";
  EXPECT_LE(submits_of(64, 300), 8u);
  EXPECT_GE(submits_of(64, 300), grows ? 2u : 5u);
  EXPECT_LE(submits_of(64, 64), 2u);
  EXPECT_LE(submits_of(300, 300), 3u);
}

TEST_F(Window, OfOneSubmitsEachDispatch) {
  EXPECT_EQ(submits_of(1, 20), 20u);
}

TEST_F(Window, OfZeroMeansOne) {
  EXPECT_EQ(submits_of(0, 3), 3u);
}

TEST_F(Window, NothingRecordedMeansNoSubmit) {
  device_.stream().synchronize();
  const uint64_t before = device_.stats().submits;
  device_.stream().flush();
  device_.stream().synchronize();
  EXPECT_EQ(device_.stats().submits, before);
}

TEST_F(Window, FullParametersAreSubmitted) {
  const Scoped data(device_, std::vector<float>(64, 0.0f));
  const BufferBinding bindings[] = {{data}};
  const Kernel& kernel = device_.compile(affine_shader());
  std::array<std::byte, Stream::kMaxParams> params = {};
  const Affine affine{64, 1.0f, 1.0f};
  std::memcpy(params.data(), &affine, sizeof(affine));
  device_.stream().synchronize();
  device_.stream().set_window(1u << 30);
  const uint64_t before = device_.stats().submits;
  constexpr int kDispatches = 6000;
  for (int i = 0; i < kDispatches; ++i) {
    device_.stream().dispatch(kernel, bindings, params, {});
  }
  EXPECT_GE(device_.stats().submits, before + 2);
  EXPECT_EQ(data.read(1)[0], static_cast<float>(kDispatches));
}

// Far more windows than the host may be ahead.
TEST_F(Window, ManyInFlight) {
  EXPECT_EQ(submits_of(1, 500), 500u);
  EXPECT_LT(device_.stats().buffers_created, 1000u);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
