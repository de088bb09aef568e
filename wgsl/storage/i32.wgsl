fn load_{{name}}(i: u32) -> i32 {
  return bitcast<i32>(read_{{name}}(i));
}
fn store_{{name}}(i: u32, value: i32) {
  write_{{name}}(i, bitcast<u32>(value));
}
fn scatter_{{name}}(i: u32, value: i32) {
  write_{{name}}(i, bitcast<u32>(value));
}
fn load4_{{name}}(q: u32) -> vec4<i32> {
  return unpack4_i32(read4_{{name}}(q));
}
fn store4_{{name}}(q: u32, value: vec4<i32>) {
  write4_{{name}}(q, pack4_i32(value));
}
