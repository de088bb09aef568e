fn load_{{name}}(i: u32) -> f32 {
  return bitcast<f32>(read_{{name}}(i));
}
fn store_{{name}}(i: u32, value: f32) {
  write_{{name}}(i, bitcast<u32>(value));
}
fn scatter_{{name}}(i: u32, value: f32) {
  write_{{name}}(i, bitcast<u32>(value));
}
fn load4_{{name}}(q: u32) -> vec4<f32> {
  return unpack4_f32(read4_{{name}}(q));
}
fn store4_{{name}}(q: u32, value: vec4<f32>) {
  write4_{{name}}(q, pack4_f32(value));
}
