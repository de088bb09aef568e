#include <array>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

// Wrong arguments throw before anything is recorded.
class Validation : public ::testing::Test {
 protected:
  std::string error_of(const ShaderSource& source,
                       std::span<const BufferBinding> bindings,
                       std::span<const std::byte> params, Grid grid = {}) {
    const Stats before = device_.stats();
    const auto text = message_of<Error>([&] {
      device_.stream().dispatch(device_.compile(source), bindings, params,
                                grid);
    });
    EXPECT_EQ(device_.stats().dispatches, before.dispatches);
    EXPECT_TRUE(contains(text, source.label)) << text;
    return text;
  }
  ~Validation() override {
    const Scoped data(device_, std::vector<float>(64, 1.0f));
    run_affine(device_, data, {64, 2.0f, 0.0f});
    EXPECT_EQ(data.read(1)[0], 2.0f);
  }
  Device& device_ = shared_device();
  const Affine params_ = {64, 1.0f, 0.0f};
};

TEST_F(Validation, NumberOfBindings) {
  const Scoped data(device_, 256);
  const BufferBinding two[] = {{data}, {data}};
  const auto text = error_of(affine_shader(), two, bytes_of(params_));
  EXPECT_TRUE(contains(text, "2 buffers given, 1 expected")) << text;
}

TEST_F(Validation, BuffersMustBeLive) {
  Buffer* freed = device_.pool().allocate(256);
  device_.pool().free(freed);
  const BufferBinding dead[] = {{freed}};
  EXPECT_TRUE(contains(error_of(affine_shader(), dead, bytes_of(params_)),
                       "not a live buffer"));
  const BufferBinding null[] = {{nullptr}};
  EXPECT_TRUE(contains(error_of(affine_shader(), null, bytes_of(params_)),
                       "not a live buffer"));
}

TEST_F(Validation, RangesAndAlignment) {
  const Scoped data(device_, 1024);
  for (const BufferBinding wrong :
       {BufferBinding{data, 1024}, BufferBinding{data, 2048, 4},
        BufferBinding{data, 0, 1028}, BufferBinding{data, 256, 1024},
        BufferBinding{data, 1}, BufferBinding{data, 0, 6}}) {
    const BufferBinding bindings[] = {wrong};
    EXPECT_TRUE(contains(error_of(affine_shader(), bindings, bytes_of(params_)),
                         "binding 0"));
  }
}

TEST_F(Validation, Grid) {
  const Scoped data(device_, 256);
  const BufferBinding bindings[] = {{data}};
  const uint32_t limit = device_.info().limits.max_workgroups_per_dimension;
  for (const hal::Grid grid :
       {hal::Grid{limit + 1, 1, 1}, hal::Grid{1, limit + 1, 1},
        hal::Grid{1, 1, limit + 1}}) {
    EXPECT_TRUE(
        contains(error_of(affine_shader(), bindings, bytes_of(params_), grid),
                 std::to_string(limit)));
  }
}

TEST_F(Validation, Parameters) {
  const Scoped data(device_, 256);
  const BufferBinding bindings[] = {{data}};
  const std::array<std::byte, Stream::kMaxParams + 4> large = {};
  EXPECT_TRUE(contains(error_of(affine_shader(), bindings, large), "516"));
}

TEST_F(Validation, ReadAndWriteOfOneBuffer) {
  const Scoped data(device_, 256), other(device_, 256);
  const uint32_t count = 64;
  const BufferBinding in_place[] = {{data}, {other}, {data}};
  EXPECT_TRUE(contains(error_of(add_shader(), in_place, bytes_of(count)),
                       "same buffer"));
  // Two reads of one buffer are fine.
  const BufferBinding twice[] = {{data}, {data}, {other}};
  device_.stream().dispatch(device_.compile(add_shader()), twice,
                            bytes_of(count), {});
}

// What only the implementation can see (here: the shader needs 16 bytes, 4 are
// bound) drops the window and throws; it does not abort the process.
TEST_F(Validation, OfTheImplementationBecomesAnException) {
  ShaderSource source;
  source.label = "needs_sixteen_bytes";
  source.bindings = {Access::ReadWrite};
  source.has_params = false;
  source.wgsl = R"(
    @group(0) @binding(0) var<storage, read_write> data: array<vec4u>;
    @compute @workgroup_size(1) fn main() { data[0] = vec4u(1u); }
  )";
  const Scoped data(device_, 256);
  device_.stream().synchronize();
  const BufferBinding bindings[] = {{data, 0, 4}};
  const Kernel& kernel = device_.compile(source);
  const auto text = message_of<Error>([&] {
    device_.stream().dispatch(kernel, bindings, {}, {});
    device_.stream().synchronize();
  });
  EXPECT_TRUE(contains(text, "validation")) << text;
  EXPECT_NO_THROW(device_.stream().synchronize());
}

TEST_F(Validation, ErrorsOfCallbacksAreThrownOnce) {
  device_.stream().synchronize();
  device_.inject_error_for_testing("stored by a callback");
  const auto text = message_of<Error>([&] { device_.stream().synchronize(); });
  EXPECT_TRUE(contains(text, "stored by a callback")) << text;
  EXPECT_NO_THROW(device_.stream().synchronize());
  device_.inject_error_for_testing("again");
  EXPECT_THROW(device_.throw_pending_errors(), Error);
  EXPECT_NO_THROW(device_.throw_pending_errors());
}

TEST_F(Validation, FirstOfManyStoredErrorsIsKept) {
  device_.inject_error_for_testing("cause");
  device_.inject_error_for_testing("consequence");
  const auto text = message_of<Error>([&] { device_.throw_pending_errors(); });
  EXPECT_TRUE(contains(text, "cause")) << text;
  EXPECT_NO_THROW(device_.throw_pending_errors());
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
