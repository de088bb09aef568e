#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

// A kernel's parameter block is written once, as a list of fields:
//
//   WEBGPU_PARAMS(SoftmaxParams, (u32, rows), (u32, cols), (f32, scale));
//
// This makes the C++ struct SoftmaxParams and SoftmaxParams::wgsl(), the text
// of the WGSL struct with the same layout in the uniform address space (which
// the kernel sees as `p`). Field types: u32, i32, f32, u64 (vec2<u32>), u32x8
// (array<vec4<u32>, 2>, element d is p.name[d >> 2u][d & 3u]), Walk (the sizes
// of a walk, see KernelText::walks).
namespace torch_webgpu::wgsl {
namespace params {

using u32 = uint32_t;
using i32 = int32_t;
using f32 = float;
struct alignas(8) u64 {
  uint32_t low = 0, high = 0;
};
inline u64 words_of(uint64_t value) {
  return {uint32_t(value), uint32_t(value >> 32)};
}
struct alignas(16) u32x8 : std::array<uint32_t, 8> {
  u32x8() : std::array<uint32_t, 8>{} {}
};

// Sizes, innermost first, with what divides by them (see walk_divide in
// wgsl/lib/grid.wgsl): a GPU has no fast division by a number that a compiler
// does not know.
struct Walk {
  u32x8 sizes, magic, shift;
  alignas(16) uint32_t rank = 0;

  // A size of 1 only where nothing follows: it cannot be divided by.
  void add(uint32_t size) {
    sizes[rank] = size;
    const auto bits = uint32_t(std::bit_width(size - 1));
    shift[rank] = bits == 0 ? 0 : bits - 1;
    magic[rank] = uint32_t(
        ((uint64_t{1} << 32) * ((uint64_t{1} << bits) - size)) / size + 1);
    ++rank;
  }
};

template <class T>
constexpr const char* wgsl_type();
template <>
constexpr const char* wgsl_type<u32>() {
  return "u32";
}
template <>
constexpr const char* wgsl_type<i32>() {
  return "i32";
}
template <>
constexpr const char* wgsl_type<f32>() {
  return "f32";
}
template <>
constexpr const char* wgsl_type<u64>() {
  return "vec2<u32>";
}
template <>
constexpr const char* wgsl_type<u32x8>() {
  return "array<vec4<u32>, 2>";
}
template <>
constexpr const char* wgsl_type<Walk>() {
  return "Walk";
}

}  // namespace params
}  // namespace torch_webgpu::wgsl

// `macro` for each of the arguments, which are in parentheses: at most 256.
#define WEBGPU_EXPAND(...) \
  WEBGPU_EXPAND_4(WEBGPU_EXPAND_4(WEBGPU_EXPAND_4(WEBGPU_EXPAND_4(__VA_ARGS__))))
#define WEBGPU_EXPAND_4(...) \
  WEBGPU_EXPAND_3(WEBGPU_EXPAND_3(WEBGPU_EXPAND_3(WEBGPU_EXPAND_3(__VA_ARGS__))))
#define WEBGPU_EXPAND_3(...) \
  WEBGPU_EXPAND_2(WEBGPU_EXPAND_2(WEBGPU_EXPAND_2(WEBGPU_EXPAND_2(__VA_ARGS__))))
#define WEBGPU_EXPAND_2(...) \
  WEBGPU_EXPAND_1(WEBGPU_EXPAND_1(WEBGPU_EXPAND_1(WEBGPU_EXPAND_1(__VA_ARGS__))))
#define WEBGPU_EXPAND_1(...) __VA_ARGS__
#define WEBGPU_NO_ARGUMENTS ()
#define WEBGPU_FOR_EACH(macro, ...) \
  __VA_OPT__(WEBGPU_EXPAND(WEBGPU_FOR_NEXT(macro, __VA_ARGS__)))
#define WEBGPU_FOR_NEXT(macro, first, ...) \
  macro first __VA_OPT__(WEBGPU_FOR_AGAIN WEBGPU_NO_ARGUMENTS(macro, __VA_ARGS__))
#define WEBGPU_FOR_AGAIN() WEBGPU_FOR_NEXT

// The alignments above are WGSL's own for the uniform address space, so the
// C++ compiler lays the fields out as WGSL does.
#define WEBGPU_PARAMS_FIELD(type, name) \
  ::torch_webgpu::wgsl::params::type name{};
#define WEBGPU_PARAMS_TEXT(type, name)                \
  text += std::string("  " #name ": ") +              \
          ::torch_webgpu::wgsl::params::wgsl_type<    \
              ::torch_webgpu::wgsl::params::type>() + \
          ",\n";
#define WEBGPU_PARAMS(Name, ...)                      \
  struct Name {                                       \
    WEBGPU_FOR_EACH(WEBGPU_PARAMS_FIELD, __VA_ARGS__) \
    static std::string wgsl() {                       \
      std::string text = "struct Params {\n";         \
      WEBGPU_FOR_EACH(WEBGPU_PARAMS_TEXT, __VA_ARGS__) \
      return text + "}\n";                            \
    }                                                 \
  };                                                  \
  static_assert(sizeof(Name) <= 512, "a parameter block has 512 bytes")
