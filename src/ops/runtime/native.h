#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ops/runtime/outputs.h"

// Operators with kernels for some arguments only: the others go to the CPU.
//
//   TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
//     native<"elu.out", &elu_out, takes_floats>(m);
//   }
//
// registers elu_out for the calls that takes_floats accepts, and the CPU, as
// the fallback of the device has it (fallback.h: warned, counted, refused), for
// the rest. Names and arguments come from the schema and the kernel's type, so
// a kernel never repeats them; and it sees only what it was written for.
//
// The test runs before the kernel's own checks. A call that it refuses gets the
// CPU's messages.
namespace torch_webgpu::ops {

// Tests of a tensor: its dtype is one that the kernels compute in …
bool is_native(const at::TensorBase&);
bool is_native_float(const at::TensorBase&);   // … and has fractions
bool is_native_number(const at::TensorBase&);  // … and is not bool

// The test of an argument, which holds where there is no tensor.
template <auto test, class Argument>
bool passes(const Argument& argument) {
  if constexpr (std::is_base_of_v<at::TensorBase, Argument>) {
    return !argument.defined() || test(argument);
  } else if constexpr (std::is_same_v<Argument, std::optional<at::Tensor>>) {
    return !argument || passes<test>(*argument);
  } else {
    return true;
  }
}

// Tests of an operator's arguments are anything that can be called with them.
// These hold for every tensor among them, outputs included …
template <auto test>
struct EachTensor {
  bool operator()(const auto&... arguments) const {
    return (passes<test>(arguments) && ...);
  }
};
inline constexpr EachTensor<&is_native> takes_native;
inline constexpr EachTensor<&is_native_float> takes_floats;
inline constexpr EachTensor<&is_native_number> takes_numbers;

// … and these for the tensors at the given places, counted from 0.
template <auto test, size_t... place>
struct TensorsAt {
  bool operator()(const auto&... arguments) const {
    const auto all = std::tie(arguments...);
    return (passes<test>(std::get<place>(all)) && ...);
  }
};
template <size_t... place>
inline constexpr TensorsAt<&is_native, place...> takes_native_at;
template <size_t... place>
inline constexpr TensorsAt<&is_native_float, place...> takes_floats_at;
template <size_t... place>
inline constexpr TensorsAt<&is_native_number, place...> takes_numbers_at;

// Takes everything: for kernels that are here for the checks of outputs alone.
struct TakesAll {
  bool operator()(const auto&...) const { return true; }
};
inline constexpr TakesAll takes_all;

// The output (the last tensor of the arguments) if it is an input too.
const c10::TensorImpl* kept_output(const auto&... arguments) {
  const c10::TensorImpl* last = nullptr;
  const auto see = [&](const auto& argument, auto&& then) {
    if constexpr (std::is_base_of_v<at::TensorBase,
                                    std::decay_t<decltype(argument)>>) {
      then(argument.unsafeGetTensorImpl());
    }
  };
  (see(arguments, [&](const c10::TensorImpl* impl) { last = impl; }), ...);
  int found = 0;
  (see(arguments, [&](const c10::TensorImpl* impl) { found += impl == last; }),
   ...);
  return found > 1 ? last : nullptr;
}

// An operator of aten with its overload, as a template's argument: "elu.out",
// or in parts from a table's row: OperatorName(row.name, ".", row.out).
struct OperatorName {
  char text[64] = {};

  consteval OperatorName(std::convertible_to<const char*> auto... parts) {
    size_t length = 0;
    const auto append = [&](const char* part) {
      // A name that does not fit is an error of the compiler.
      while (*part != 0)
        text[length++] = *part++;
    };
    (append(parts), ...);
  }
};

c10::OperatorHandle find_operator(const OperatorName&);
const c10::KernelFunction& cpu_kernel();  // the boxed fallback

template <OperatorName name, auto kernel, auto takes, class Function>
struct Native;

template <OperatorName name, auto kernel, auto takes, class Result,
          class... Arguments>
struct Native<name, kernel, takes, Result (*)(Arguments...)> {
  static Result call(Arguments... arguments) {
    // Only outputs are returned by reference.
    const KeepsSize keeps(std::is_reference_v<Result>
                              ? kept_output(std::as_const(arguments)...)
                              : nullptr);
    if (takes(std::as_const(arguments)...)) [[likely]] {
      return kernel(std::forward<Arguments>(arguments)...);
    }
    return on_cpu(std::forward<Arguments>(arguments)...);
  }

 private:
  // Boxing happens here only.
  C10_NOINLINE static Result on_cpu(Arguments... arguments) {
    static const c10::OperatorHandle op = find_operator(name);
    return cpu_kernel().template call<Result, Arguments...>(
        op, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
        std::forward<Arguments>(arguments)...);
  }
};

template <OperatorName name, auto kernel, auto takes>
void native(torch::Library& m) {
  m.impl(name.text, &Native<name, kernel, takes, decltype(kernel)>::call);
}

}  // namespace torch_webgpu::ops
