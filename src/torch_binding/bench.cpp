#include "torch_binding/bench.h"

#include <array>
#include <cstring>
#include <ctime>
#include <memory>

#include "hal/kernel.h"
#include "hal/stream.h"
#include "ops/runtime/runtime.h"

namespace torch_webgpu::binding {
namespace {

constexpr const char* kAdd64 = R"(
struct Params {
  count: u32,
}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.count) {
    c[id.x] = a[id.x] + b[id.x];
  }
}
)";
constexpr uint32_t kCount = 64;

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double bench_bare_dispatch(unsigned count) {
  hal::Device& device = ops::device();
  const hal::Kernel& kernel =
      device.compile({.label = "bench_add_64",
                      .wgsl = kAdd64,
                      .bindings = {hal::Access::Read, hal::Access::Read,
                                   hal::Access::ReadWrite}});
  const std::array<c10::DataPtr, 3> memory = {
      ops::allocate_storage(kCount * sizeof(float)),
      ops::allocate_storage(kCount * sizeof(float)),
      ops::allocate_storage(kCount * sizeof(float))};
  std::array<hal::BufferBinding, 3> bindings;
  for (size_t i = 0; i < memory.size(); ++i) {
    bindings[i].buffer = static_cast<hal::Buffer*>(memory[i].get_context());
  }
  // Uniform blocks are padded to 16 bytes.
  const std::array<uint32_t, 4> params = {kCount, 0, 0, 0};
  const auto bytes = std::as_bytes(std::span(params));

  hal::Stream& stream = device.stream();
  stream.dispatch(kernel, bindings, bytes, {});
  stream.synchronize();
  const double start = thread_seconds();
  for (unsigned i = 0; i < count; ++i) {
    stream.dispatch(kernel, bindings, bytes, {});
  }
  stream.flush();
  const double seconds = thread_seconds() - start;
  stream.synchronize();
  return seconds;
}

void bench_buffer_copy(const at::Tensor& src, const at::Tensor& dst) {
  const uint64_t bytes = src.storage().nbytes();
  TORCH_CHECK_VALUE(bytes == dst.storage().nbytes() && bytes % 4 == 0,
                    "webgpu: bench_buffer_copy takes two storages of one size, "
                    "in whole words, got ",
                    bytes, " and ", dst.storage().nbytes(), " bytes");
  ops::device().stream().copy(ops::buffer_of(src), 0, ops::buffer_of(dst), 0,
                              bytes);
}

}  // namespace torch_webgpu::binding
