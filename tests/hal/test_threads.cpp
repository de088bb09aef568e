#include <atomic>
#include <thread>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

template <typename Work>
void on_threads(int count, Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work, i);
  for (std::thread& thread : threads)
    thread.join();
}

TEST(Threads, EachGetsItsOwnRightResult) {
  Device& device = shared_device();
  std::atomic<int> right = 0;
  on_threads(8, [&](int index) {
    for (int round = 0; round < 10; ++round) {
      const float start = static_cast<float>(index * 100 + round);
      const Scoped data(device, std::vector<float>(256, start));
      const Scoped zero(device, std::vector<float>(256, 0.0f));
      const Scoped out(device, 1024);
      for (int i = 0; i < 20; ++i) {
        run_affine(device, data, {256, 1.0f, 1.0f});
      }
      run_add(device, data, zero, out, 256);
      if (out.read(256) == std::vector<float>(256, start + 20.0f)) ++right;
    }
  });
  EXPECT_EQ(right, 80);
}

TEST(Threads, AllocateFreeAndFind) {
  Device& device = shared_device();
  const PoolStats before = device.pool().stats();
  std::atomic<int> wrong = 0;
  on_threads(8, [&](int index) {
    std::vector<Buffer*> mine;
    for (int i = 0; i < 200; ++i) {
      mine.push_back(device.pool().allocate(256 * (1 + (i + index) % 16)));
      if (device.pool().find(mine.back()->address()) != mine.back()) ++wrong;
      if (i % 3 == 0) {
        device.pool().free(mine.front());
        mine.erase(mine.begin());
      }
    }
    for (Buffer* buffer : mine)
      device.pool().free(buffer);
  });
  EXPECT_EQ(wrong, 0);
  const PoolStats after = device.pool().stats();
  EXPECT_EQ(after.active_blocks, before.active_blocks);
  EXPECT_EQ(after.allocated, before.allocated);
}

TEST(Threads, CompileTheSameShader) {
  Device& device = shared_device();
  ShaderSource source = affine_shader();
  source.wgsl += "// compiled by many threads\n";
  const uint64_t before = device.stats().pipelines_created;
  std::atomic<const Kernel*> seen = nullptr;
  on_threads(8, [&](int) {
    const Kernel* kernel = &device.compile(source);
    const Kernel* none = nullptr;
    if (!seen.compare_exchange_strong(none, kernel)) {
      EXPECT_EQ(none, kernel);
    }
  });
  EXPECT_EQ(device.stats().pipelines_created, before + 1);
}

TEST(Threads, ErrorReachesExactlyOne) {
  Device& device = shared_device();
  device.stream().synchronize();
  device.inject_error_for_testing("for one of you");
  std::atomic<int> caught = 0;
  on_threads(8, [&](int) {
    try {
      device.stream().synchronize();
    } catch (const Error&) {
      ++caught;
    }
  });
  EXPECT_EQ(caught, 1);
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
