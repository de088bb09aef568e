#include <time.h>

#include <algorithm>
#include <cstdio>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * now.tv_nsec;
}

// CPU time of the calling thread per bare dispatch: 64 floats, cached pipeline
// and bind group. Prints; asserts only that the steady loop makes no object.
TEST(Benchmark, BareDispatch) {
  Device& device = shared_device();
  const Scoped a(device, 256), b(device, 256), out(device, 256);
  const Kernel& kernel = device.compile(add_shader());
  const BufferBinding bindings[] = {{a}, {b}, {out}};
  const uint32_t count = 64;
  Stream& stream = device.stream();
  for (const uint32_t window : {1u, 64u, 256u}) {
    stream.set_window(window);
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
      stream.synchronize();
      const Stats before = device.stats();
      const double start = thread_seconds();
      for (int i = 0; i < 2000; ++i) {
        stream.dispatch(kernel, bindings, bytes_of(count), {});
      }
      best = std::min(best, thread_seconds() - start);
      if (round > 0) {
        EXPECT_EQ(device.stats().bind_groups_created,
                  before.bind_groups_created);
        EXPECT_EQ(device.stats().buffers_created, before.buffers_created);
      }
    }
    std::printf("  window %3u: %.2f us CPU per dispatch\n", window,
                best / 2000 * 1e6);
  }
  stream.set_window(64);
  stream.synchronize();
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
