#include "ops/runtime/subgroups.h"

#include <ATen/ops/empty.h>
#include <c10/core/TensorOptions.h>

#include "hal/device.h"
#include "hal/stream.h"
#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"

namespace torch_webgpu::ops {
namespace {

struct ProbeVariant {
  uint8_t unused;
};

wgsl::KernelText describe(const ProbeVariant&) {
  wgsl::KernelText text;
  text.file = text.label = "subgroup_probe";
  text.operands = {{"o", wgsl::DType::I32, wgsl::Mode::Write, 1, ""}};
  text.subgroups = true;
  return text;
}

std::vector<ProbeVariant> enumerate() {
  return {{0}};
}

Family<ProbeVariant> family(describe, enumerate);

uint32_t probe() {
  const auto options =
      at::TensorOptions().dtype(at::kInt).device(c10::kPrivateUse1);
  const at::Tensor out = at::empty({1}, options);
  const at::TensorBase* tensor = &out;
  launch_bytes(family({0}), {&tensor, 1}, {}, 1);
  uint32_t size = 0;
  as_torch(
      [&] { device().stream().read(buffer_of(out), 0, &size, sizeof(size)); });
  return size;
}

}  // namespace

uint32_t subgroup_lanes() {
  static const uint32_t lanes = [] {
    const auto& info = device().info();
    if (!info.subgroups || info.subgroup_min != info.subgroup_max) return 0u;
    if (info.subgroup_min != 0) return info.subgroup_min;
    // wgpu-native does not say. Only a CPU's subgroups surely have one size.
    return info.adapter_type == "cpu" ? probe() : 0u;
  }();
  return lanes;
}

}  // namespace torch_webgpu::ops
