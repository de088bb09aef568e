#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

class Shaders : public ::testing::Test {
 protected:
  std::string error_of(const ShaderSource& source) {
    return message_of<ShaderError>([&] { device_.compile(source); });
  }
  // After every failure the device works and stores no error.
  ~Shaders() override {
    EXPECT_NO_THROW(device_.throw_pending_errors());
    const Scoped data(device_, std::vector<float>(64, 1.0f));
    run_affine(device_, data, {64, 2.0f, 0.0f});
    EXPECT_EQ(data.read(1)[0], 2.0f);
  }
  Device& device_ = shared_device();
};

TEST_F(Shaders, ThatDoNotCompileAreNamedWithTheirLine) {
  for (const bool trusted : {true, false}) {
    ShaderSource source = affine_shader();
    source.label = "broken_kernel";
    source.trusted = trusted;
    source.wgsl = "\n\n@compute @workgroup_size(1) fn main() { let x = nope; }";
    const auto text = error_of(source);
    EXPECT_TRUE(contains(text, "broken_kernel")) << text;
    EXPECT_TRUE(contains(text, "nope")) << text;
    EXPECT_TRUE(contains(text, "3:")) << text;
  }
}

TEST_F(Shaders, EntryPointMustExist) {
  ShaderSource source = affine_shader();
  source.label = "no_entry";
  source.entry_point = "absent";
  EXPECT_TRUE(contains(error_of(source), "no_entry"));
}

TEST_F(Shaders, BindingsMustFitTheSource) {
  ShaderSource source = affine_shader();
  source.label = "wrong_access";
  source.bindings = {Access::Read};
  EXPECT_TRUE(contains(error_of(source), "wrong_access"));
  source.label = "too_few";
  source.bindings = {};
  EXPECT_TRUE(contains(error_of(source), "too_few"));
  source = affine_shader();
  source.label = "params_missing";
  source.has_params = false;
  EXPECT_TRUE(contains(error_of(source), "params_missing"));
}

TEST_F(Shaders, TooManyBindingsAreCounted) {
  ShaderSource source = affine_shader();
  source.label = "too_many";
  source.bindings.assign(1000, Access::Read);
  EXPECT_TRUE(contains(error_of(source), "1000 storage buffers"));
}

TEST_F(Shaders, ParameterBlocksAboveTheLimitFailAtCompileTime) {
  ShaderSource source;
  source.label = "large_params";
  source.bindings = {Access::ReadWrite};
  source.wgsl = R"(
    struct Params { words: array<vec4u, 33> }
    @group(0) @binding(0) var<storage, read_write> data: array<vec4u>;
    @group(1) @binding(0) var<uniform> params: Params;
    @compute @workgroup_size(1) fn main() { data[0] = params.words[32]; }
  )";
  EXPECT_TRUE(contains(error_of(source), "large_params"));
}

TEST_F(Shaders, TooLargeWorkgroupIsRefused) {
  ShaderSource source;
  source.label = "huge_workgroup";
  source.has_params = false;
  source.wgsl = "@compute @workgroup_size(1024, 1024, 64) fn main() {}";
  EXPECT_TRUE(contains(error_of(source), "huge_workgroup"));
}

TEST_F(Shaders, AreCompiledOnce) {
  const Kernel& first = device_.compile(affine_shader());
  const Stats before = device_.stats();
  EXPECT_EQ(&device_.compile(affine_shader()), &first);
  EXPECT_EQ(device_.stats().pipelines_created, before.pipelines_created);
  EXPECT_EQ(first.label(), "test_affine");
}

TEST_F(Shaders, EntryPointsShareOneModule) {
  ShaderSource source;
  source.label = "two_entries";
  source.has_params = false;
  source.wgsl = R"(
    @compute @workgroup_size(1) fn first() {}
    @compute @workgroup_size(1) fn second() {}
  )";
  source.entry_point = "first";
  const Stats before = device_.stats();
  device_.compile(source);
  source.entry_point = "second";
  device_.compile(source);
  const Stats after = device_.stats();
  EXPECT_EQ(after.shader_modules_created - before.shader_modules_created, 1u);
  EXPECT_EQ(after.pipelines_created - before.pipelines_created, 2u);
}

// Where the implementation can, these pipelines are made while the caller goes
// on, and the window waits for them.
class DeferredShaders : public Shaders {
 protected:
  // As many kernels as asked for, each adding its number to data[0].
  static ShaderSource adder(int number) {
    ShaderSource source;
    source.label = "adder_" + std::to_string(number);
    source.bindings = {Access::ReadWrite};
    source.has_params = false;
    source.deferrable = true;
    source.wgsl =
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n"
        "@compute @workgroup_size(1) fn main() { data[0] = data[0] * 3u + " +
        std::to_string(number) + "u; }";
    return source;
  }
  // Tint and Naga both take the text; the pipeline is too large.
  static ShaderSource unmakable(const std::string& label) {
    ShaderSource source = adder(0);
    source.label = label;
    source.wgsl =
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n"
        "@compute @workgroup_size(1024, 1024) fn main() { data[0] = 1u; } // " +
        label;
    return source;
  }
};

TEST_F(DeferredShaders, RunInOrder) {
  const Scoped data(device_, std::vector<uint32_t>{1});
  const BufferBinding bindings[] = {{data}};
  uint32_t expected = 1;
  for (int i = 1; i <= 100; ++i) {
    device_.stream().dispatch(device_.compile(adder(i)), bindings, {}, {});
    expected = expected * 3 + static_cast<uint32_t>(i);
  }
  EXPECT_EQ(data.read<uint32_t>(1)[0], expected);
}

TEST_F(DeferredShaders, ThatCannotBeMadeAreNamedAtTheLatestByARead) {
  const Scoped data(device_, std::vector<uint32_t>{1});
  const BufferBinding bindings[] = {{data}};
  const auto run = [&] {
    device_.stream().dispatch(device_.compile(unmakable("unmakable_one")),
                              bindings, {}, {});
    data.read<uint32_t>(1);
  };
  for (int turn = 0; turn < 2; ++turn) {
    const auto text = message_of<ShaderError>(run);
    EXPECT_TRUE(contains(text, "unmakable_one")) << text;
  }
  ShaderSource now = unmakable("unmakable_one");
  now.deferrable = false;
  EXPECT_TRUE(contains(error_of(now), "unmakable_one"));
  EXPECT_EQ(data.read<uint32_t>(1)[0], 1u);
}

// One that cannot be made takes down what uses its result, not its window.
TEST_F(DeferredShaders, ThatCannotBeMadeFailAlone) {
  Stream& stream = device_.stream();
  stream.synchronize();
  const Scoped before(device_, std::vector<float>(64, 1.0f));
  const Scoped failed(device_, std::vector<float>(64, 1.0f));
  const Scoped copied(device_, 256), added(device_, 256), after(device_, 256);
  run_affine(device_, before, {64, 2.0f, 0.0f});
  bool deferred = true;
  try {
    const BufferBinding bindings[] = {{failed}};
    stream.dispatch(device_.compile(unmakable("unmakable_three")), bindings, {},
                    {});
  } catch (const ShaderError&) {
    deferred = false;  // its own call failed
  }
  stream.copy(failed, 0, copied, 0, 256);
  run_add(device_, copied, before, added, 64);
  stream.copy(before, 0, after, 0, 256);
  EXPECT_EQ(before.read(1)[0], 2.0f);
  EXPECT_EQ(after.read(1)[0], 2.0f);
  if (!deferred) {
    EXPECT_EQ(added.read(1)[0], 3.0f);
    return;
  }
  const auto text = message_of<ShaderError>([&] { added.read(1); });
  EXPECT_TRUE(contains(text, "unmakable_three")) << text;
  // Told once for each buffer; a call that would use one records nothing.
  EXPECT_THROW(run_add(device_, copied, before, after, 64), ShaderError);
  EXPECT_EQ(after.read(1)[0], 2.0f);
  EXPECT_THROW(failed.read(1), ShaderError);
  EXPECT_EQ(failed.read(1)[0], 1.0f);
  EXPECT_NO_THROW(stream.synchronize());
}

TEST_F(DeferredShaders, ThatCannotBeMadeDoNotHurtNewData) {
  Stream& stream = device_.stream();
  const auto fail = [&](Buffer* buffer, const std::string& label) {
    const BufferBinding bindings[] = {{buffer}};
    try {
      stream.dispatch(device_.compile(unmakable(label)), bindings, {}, {});
    } catch (const ShaderError&) {
      // An implementation that makes pipelines at once.
    }
  };
  // Of the tensor that comes after, in the same buffer and window.
  Buffer* old = device_.pool().allocate(54321);
  fail(old, "unmakable_four");
  device_.pool().free(old);
  Buffer* reused = device_.pool().allocate(54321);
  ASSERT_EQ(reused, old);
  stream.clear(reused, 0, 1024);
  run_affine(device_, reused, {64, 1.0f, 4.0f});
  float value = 0.0f;
  stream.read(reused, 0, &value, 4);
  EXPECT_EQ(value, 4.0f);
  device_.pool().free(reused);
  // And of what is written anew.
  const Scoped data(device_, std::vector<float>(64, 1.0f));
  fail(data, "unmakable_five");
  stream.flush();
  const std::vector<float> values(64, 7.0f);
  stream.write(data, 0, values.data(), 256);
  EXPECT_EQ(data.read(1)[0], 7.0f);
  try {
    stream.synchronize();
    EXPECT_EQ(device_.info().implementation, "wgpu");
  } catch (const ShaderError& error) {
    EXPECT_TRUE(contains(error.what(), "unmakable_four")) << error.what();
  }
  EXPECT_NO_THROW(stream.synchronize());
}

TEST_F(DeferredShaders, ThatNobodyUsesDisturbNobody) {
  const auto device = Device::create(options());
  for (int i = 0; i < 20; ++i)
    device->compile(adder(1000 + i));
  try {
    device->compile(unmakable("unmakable_two"));
  } catch (const ShaderError&) {
    // An implementation that makes pipelines at once.
  }
  EXPECT_NO_THROW(device->stream().synchronize());
  for (int i = 0; i < 20; ++i)
    device->compile(adder(2000 + i));  // the device goes while these are made
}

TEST_F(DeferredShaders, OfALostDeviceAreGivenUp) {
  const auto device = Device::create(options());
  const Scoped data(*device, 4);
  const BufferBinding bindings[] = {{data}};
  for (int i = 0; i < 20; ++i) {
    device->stream().dispatch(device->compile(adder(3000 + i)), bindings, {},
                              {});
  }
  device->lose_for_testing(false);
  EXPECT_THROW(
      {
        device->stream().synchronize();
        device->stream().synchronize();
      },
      DeviceLost);
}

// Untrusted WGSL on wgpu, and everything with validation, stays inside its
// buffers.
TEST_F(Shaders, CheckedOnesStayInsideTheirBuffers) {
  DeviceOptions checked = options();
  checked.validation = true;
  const auto device = Device::create(checked);
  ShaderSource source;
  source.label = "out_of_bounds";
  source.bindings = {Access::ReadWrite, Access::ReadWrite};
  source.has_params = false;
  source.wgsl = R"(
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @group(0) @binding(1) var<storage, read_write> size: array<u32>;
    @compute @workgroup_size(1) fn main() {
      size[0] = data[0xfffffffu];
      data[0xfffffffu] = 7u;
      size[1] = arrayLength(&data);
    }
  )";
  const Scoped data(*device, 256), size(*device, 256);
  const BufferBinding bindings[] = {{data}, {size}};
  device->stream().dispatch(device->compile(source), bindings, {}, {});
  EXPECT_EQ(size.read<uint32_t>(2)[1], 64u);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
