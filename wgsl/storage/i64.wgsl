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
