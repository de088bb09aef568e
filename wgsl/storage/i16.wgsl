fn load_{{name}}(i: u32) -> i32 {
  let bits = extractBits(read_{{name}}(i >> 1u), (i & 1u) * 16u, 16u);
  return extractBits(bitcast<i32>(bits), 0u, 16u);
}
// Only for the thread that owns the whole word.
fn store_{{name}}(i: u32, value: i32) {
  let word = read_{{name}}(i >> 1u);
  let bits = bitcast<u32>(value);
  write_{{name}}(i >> 1u, insertBits(word, bits, (i & 1u) * 16u, 16u));
}
// Threads may share the word: each touches only the bits of its element.
fn scatter_{{name}}(i: u32, value: i32) {
  let shift = (i & 1u) * 16u;
  atomic_and_{{name}}(i >> 1u, ~(0xffffu << shift));
  atomic_or_{{name}}(i >> 1u, ((bitcast<u32>(value)) & 0xffffu) << shift);
}
fn load4_{{name}}(q: u32) -> vec4<i32> {
  return unpack4_i16(read4_{{name}}(q));
}
fn store4_{{name}}(q: u32, value: vec4<i32>) {
  write4_{{name}}(q, pack4_i16(value));
}
