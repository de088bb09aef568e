fn load_{{name}}(i: u32) -> i32 {
  let bits = extractBits(read_{{name}}(i >> 2u), (i & 3u) * 8u, 8u);
  return extractBits(bitcast<i32>(bits), 0u, 8u);
}
// Only for the thread that owns the whole word.
fn store_{{name}}(i: u32, value: i32) {
  let word = read_{{name}}(i >> 2u);
  let bits = bitcast<u32>(value);
  write_{{name}}(i >> 2u, insertBits(word, bits, (i & 3u) * 8u, 8u));
}
// Threads may share the word: each touches only the bits of its element.
fn scatter_{{name}}(i: u32, value: i32) {
  let shift = (i & 3u) * 8u;
  atomic_and_{{name}}(i >> 2u, ~(0xffu << shift));
  atomic_or_{{name}}(i >> 2u, ((bitcast<u32>(value)) & 0xffu) << shift);
}
fn load4_{{name}}(q: u32) -> vec4<i32> {
  return unpack4_i8(read4_{{name}}(q));
}
fn store4_{{name}}(q: u32, value: vec4<i32>) {
  write4_{{name}}(q, pack4_i8(value));
}
