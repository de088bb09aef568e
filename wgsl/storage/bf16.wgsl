fn load_{{name}}(i: u32) -> f32 {
  let bits = extractBits(read_{{name}}(i >> 1u), (i & 1u) * 16u, 16u);
  return bf16_bits_to_f32(bits);
}
// Only for the thread that owns the whole word.
fn store_{{name}}(i: u32, value: f32) {
  let word = read_{{name}}(i >> 1u);
  let bits = f32_to_bf16_bits(value);
  write_{{name}}(i >> 1u, insertBits(word, bits, (i & 1u) * 16u, 16u));
}
// Threads may share the word: each touches only the bits of its element.
fn scatter_{{name}}(i: u32, value: f32) {
  let shift = (i & 1u) * 16u;
  atomic_and_{{name}}(i >> 1u, ~(0xffffu << shift));
  atomic_or_{{name}}(i >> 1u, ((f32_to_bf16_bits(value)) & 0xffffu) << shift);
}
fn load4_{{name}}(q: u32) -> vec4<f32> {
  return unpack4_bf16(read4_{{name}}(q));
}
fn store4_{{name}}(q: u32, value: vec4<f32>) {
  write4_{{name}}(q, pack4_bf16(value));
}
