#pragma once

#include <string>

#include "ops/kernel/dtype.h"

namespace torch_webgpu::wgsl {

// How a kernel sees one operand, by its name `a`:
//   load_a(i) -> f32 | i32 | u32 | i64   element i of the binding
//   store_a(i, value)     by the one thread that owns the element's word
//   scatter_a(i, value)   by any thread (Mode::Scatter only)
//   read_a(word), write_a(word, u32)     raw words
//   atomic_add_a / _or_a / _and_a(word, u32) -> old (Mode::Scatter only)
//   atomic_swap_a(word, expected, u32) -> bool: exchanged (the exchange may
//   fail though the word is as expected: repeat it)
//   lanes_a: elements of one word (a const u32)
// Width::Quad adds
//   load4_a(q) -> vec4<T>, store4_a(q, vec4<T>)   elements 4q … 4q + 3
//   (int64: I64x4 of wgsl/lib/quad.wgsl)
// Width::Chunk, in a kernel whose KernelText::chunk is E elements, adds
//   chunk_a(v) -> the 16-byte units v … of E elements
//   quad0_a(chunk) … -> the chunk's quads
//   store_chunk_a(v, quad0, …)
enum class Mode : uint8_t {
  Absent,   // no operand
  Read,     // a binding of its own
  Write,    // a binding of its own, read and write
  Scatter,  // the same, words are atomic
  Shared,   // the same buffer as an earlier operand: reads go there
  Scalar,   // no buffer: load_a(i) is the parameter p.value_a (a u64)
};

// What one access moves. A wide operand must begin at a multiple of 16 bytes
// (Quad: of four elements) of its binding; its elements can still be reached
// one by one, which costs more.
enum class Width : uint8_t { Element, Quad, Chunk };

struct Operand {
  std::string name;
  DType dtype;
  Mode mode = Mode::Read;
  uint32_t windows = 1;     // bindings that the view needs; 1 for Width::Chunk
  std::string shared_with;  // for Mode::Shared
  Width width = Width::Element;
};

// Elements of a 16-byte unit.
inline uint32_t unit_of(DType dtype) {
  return dtype == DType::I64 ? 2 : 4 * lanes_of(dtype);
}

// The WGSL type of four loaded elements.
std::string quad_type(Compute);

}  // namespace torch_webgpu::wgsl
