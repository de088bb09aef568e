fn load_{{name}}(i: u32) -> u32 {
  let bits = extractBits(read_{{name}}(i >> 2u), (i & 3u) * 8u, 8u);
  return bits;
}
// Only for the thread that owns the whole word.
fn store_{{name}}(i: u32, value: u32) {
  let word = read_{{name}}(i >> 2u);
  let bits = select(0u, 1u, value != 0u);
  write_{{name}}(i >> 2u, insertBits(word, bits, (i & 3u) * 8u, 8u));
}
// Threads may share the word: each touches only the bits of its element.
fn scatter_{{name}}(i: u32, value: u32) {
  let shift = (i & 3u) * 8u;
  atomic_and_{{name}}(i >> 2u, ~(0xffu << shift));
  atomic_or_{{name}}(i >> 2u, ((select(0u, 1u, value != 0u)) & 0xffu) << shift);
}
fn load4_{{name}}(q: u32) -> vec4<u32> {
  return unpack4_bool(read4_{{name}}(q));
}
fn store4_{{name}}(q: u32, value: vec4<u32>) {
  write4_{{name}}(q, pack4_bool(value));
}
