#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <cstdint>
#include <optional>

namespace torch_webgpu::ops {

// The state of a counter-based (Philox) generator: a seed and how many
// 128-bit blocks every stream has already used. Not thread-safe by itself;
// hold mutex_ around any use, as with all of torch's generators.
class GeneratorImpl final : public c10::GeneratorImpl {
 public:
  GeneratorImpl();

  void set_current_seed(uint64_t seed) override;  // also offset 0
  uint64_t current_seed() const override;
  uint64_t seed() override;  // takes a new one from the system
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  // The state's bytes are seed, offset, as on CUDA.
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

  static c10::DeviceType device_type();

 private:
  GeneratorImpl* clone_impl() const override;

  uint64_t seed_ = c10::default_rng_seed_val;
  uint64_t offset_ = 0;
};

// What one random kernel needs: its key and its first counter.
struct PhiloxState {
  uint64_t seed;
  uint64_t offset;
};

const at::Generator& default_generator();

// Reserves `blocks` counters of the given generator, or of the default one.
// Locks it.
PhiloxState reserve_philox(const std::optional<at::Generator>& generator,
                           uint64_t blocks);

}  // namespace torch_webgpu::ops
