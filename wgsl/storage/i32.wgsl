fn load_{{name}}(i: u32) -> i32 {
  return bitcast<i32>(read_{{name}}(i));
}
fn store_{{name}}(i: u32, value: i32) {
  write_{{name}}(i, bitcast<u32>(value));
}
fn scatter_{{name}}(i: u32, value: i32) {
  write_{{name}}(i, bitcast<u32>(value));
}
