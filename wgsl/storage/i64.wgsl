fn load_{{name}}(i: u32) -> i64 {
  return i64(read_{{name}}(2u * i), read_{{name}}(2u * i + 1u));
}
fn store_{{name}}(i: u32, value: i64) {
  write_{{name}}(2u * i, value.x);
  write_{{name}}(2u * i + 1u, value.y);
}
fn scatter_{{name}}(i: u32, value: i64) {
  store_{{name}}(i, value);
}
fn load4_{{name}}(q: u32) -> I64x4 {
  return unpack4_i64(read4_{{name}}(2u * q), read4_{{name}}(2u * q + 1u));
}
fn store4_{{name}}(q: u32, value: I64x4) {
  write4_{{name}}(2u * q, vec4<u32>(value.x, value.y));
  write4_{{name}}(2u * q + 1u, vec4<u32>(value.z, value.w));
}
