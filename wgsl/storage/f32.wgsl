fn load_{{name}}(i: u32) -> f32 {
  return bitcast<f32>(read_{{name}}(i));
}
fn store_{{name}}(i: u32, value: f32) {
  write_{{name}}(i, bitcast<u32>(value));
}
fn scatter_{{name}}(i: u32, value: f32) {
  write_{{name}}(i, bitcast<u32>(value));
}
