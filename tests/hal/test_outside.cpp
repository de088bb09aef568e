#include "fixture.h"

// Kernels of text from outside: any number may come, few are kept.
namespace torch_webgpu::hal::testing {
namespace {

ShaderSource numbered(int number) {
  ShaderSource source = affine_shader();
  source.label = "outside_" + std::to_string(number);
  source.wgsl += "\n// " + std::to_string(number) + "\n";
  return source;
}

class Outside : public ::testing::Test {
 protected:
  void run(const Kernel& kernel, const Scoped& data) {
    const Affine params{64, 2.0f, 0.0f};
    const BufferBinding bindings[] = {{data}};
    device_.stream().dispatch(kernel, bindings,
                              std::as_bytes(std::span(&params, 1)), {1, 1, 1});
  }
  Device& device_ = shared_device();
};

TEST_F(Outside, TheSameTextIsTheSameKernel) {
  const auto first = device_.compile_outside(numbered(-1));
  const auto again = device_.compile_outside(numbered(-1));
  EXPECT_EQ(first, again);
  EXPECT_NE(first, device_.compile_outside(numbered(-2)));
}

TEST_F(Outside, WhatNobodyHasGoesByAge) {
  const std::weak_ptr<const Kernel> dropped =
      device_.compile_outside(numbered(0));
  const auto held = device_.compile_outside(numbered(1));
  EXPECT_FALSE(dropped.expired());  // in case that it comes again
  for (int i = 2; i < 300; ++i)
    device_.compile_outside(numbered(i));
  EXPECT_TRUE(dropped.expired());
  const Scoped data(device_, std::vector<float>(64, 1.0f));
  run(*held, data);
  EXPECT_EQ(data.read(1)[0], 2.0f);
}

TEST_F(Outside, MayBeDroppedBeforeItRuns) {
  const Scoped data(device_, std::vector<float>(64, 1.0f));
  {
    const auto kernel = device_.compile_outside(numbered(1000));
    run(*kernel, data);
  }
  for (int i = 1001; i < 1300; ++i)
    device_.compile_outside(numbered(i));
  EXPECT_EQ(data.read(1)[0], 2.0f);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
