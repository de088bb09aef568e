#include "ops/random/generator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Utils.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <cstring>
#include <mutex>

namespace torch_webgpu::ops {
namespace {

using StateBytes = std::array<uint64_t, 2>;

}  // namespace

GeneratorImpl::GeneratorImpl()
    : c10::GeneratorImpl(c10::Device(c10::kPrivateUse1, 0),
                         c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}

void GeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

uint64_t GeneratorImpl::current_seed() const {
  return seed_;
}

uint64_t GeneratorImpl::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return seed_;
}

void GeneratorImpl::set_offset(uint64_t offset) {
  offset_ = offset;
}

uint64_t GeneratorImpl::get_offset() const {
  return offset_;
}

void GeneratorImpl::set_state(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  TORCH_CHECK(state.numel() == sizeof(StateBytes), "webgpu: an RNG state has ",
              sizeof(StateBytes), " bytes, got ", state.numel(),
              "; pass what torch.webgpu.get_rng_state() returned.");
  StateBytes bytes;
  std::memcpy(bytes.data(), state.data(), sizeof(bytes));
  seed_ = bytes[0];
  offset_ = bytes[1];
}

c10::intrusive_ptr<c10::TensorImpl> GeneratorImpl::get_state() const {
  const StateBytes bytes = {seed_, offset_};
  at::TensorBase state =
      at::detail::empty_cpu({sizeof(bytes)}, at::ScalarType::Byte);
  std::memcpy(state.mutable_data_ptr(), bytes.data(), sizeof(bytes));
  return state.getIntrusivePtr();
}

c10::DeviceType GeneratorImpl::device_type() {
  return c10::kPrivateUse1;
}

GeneratorImpl* GeneratorImpl::clone_impl() const {
  auto* copy = new GeneratorImpl;
  copy->seed_ = seed_;
  copy->offset_ = offset_;
  return copy;
}

const at::Generator& default_generator() {
  // Leaked: Python may hold it beyond static destructors.
  static const auto* generator =
      new at::Generator(at::make_generator<GeneratorImpl>());
  return *generator;
}

PhiloxState reserve_philox(const std::optional<at::Generator>& generator,
                           uint64_t blocks) {
  auto* impl = at::get_generator_or_default<GeneratorImpl>(generator,
                                                           default_generator());
  std::lock_guard lock(impl->mutex_);
  const PhiloxState state = {impl->current_seed(), impl->get_offset()};
  impl->set_offset(state.offset + blocks);
  return state;
}

}  // namespace torch_webgpu::ops
