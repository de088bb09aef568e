#include <c10/util/ApproximateClock.h>
#include <torch/csrc/profiler/stubs/base.h>

#include <chrono>

#include "hal/stream.h"
#include "ops/runtime/runtime.h"

// torch.autograd.profiler.profile(use_device="webgpu"): time on the device per
// operator. Kernels by name come from torch.webgpu.kernel_timings().
namespace torch_webgpu::binding {
namespace {

using torch::profiler::impl::ProfilerStubs;
using torch::profiler::impl::ProfilerVoidEventStub;
using Time = std::chrono::steady_clock::time_point;

// WebGPU has no timestamp at a point of a queue, so an event waits for the work
// before it and reads the host's clock, as a timing torch.Event does. Operators
// therefore run one after the other while such a profiler is on.
struct Stubs final : ProfilerStubs {
  void record(c10::DeviceIndex* device, ProfilerVoidEventStub* event,
              int64_t* cpu_ns) const override {
    if (device) *device = 0;
    if (cpu_ns) *cpu_ns = c10::getTime();
    synchronize();
    *event = std::make_shared<Time>(std::chrono::steady_clock::now());
  }

  // Microseconds.
  float elapsed(const ProfilerVoidEventStub* first,
                const ProfilerVoidEventStub* second) const override {
    const auto& begin = *static_cast<const Time*>(first->get());
    const auto& end = *static_cast<const Time*>(second->get());
    return std::chrono::duration<float, std::micro>(end - begin).count();
  }

  bool enabled() const override { return true; }

  void onEachDevice(std::function<void(int)> op) const override { op(0); }

  void synchronize() const override {
    if (ops::device_created()) {
      ops::as_torch([] { ops::device().stream().synchronize(); });
    }
  }

  // Marks for a vendor's own profiler, of which WebGPU has none.
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}
};

[[maybe_unused]] const bool registered = [] {
  // Leaked, as torch keeps the pointer for the life of the process.
  torch::profiler::impl::registerPrivateUse1Methods(new Stubs);
  return true;
}();

}  // namespace
}  // namespace torch_webgpu::binding
