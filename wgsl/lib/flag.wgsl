// What a store to a bool tensor takes: 1 for any value but zero (NaN too).
fn f32_to_flag(x: f32) -> u32 {
  return select(1u, 0u, (bitcast<u32>(x) & 0x7fffffffu) == 0u);
}
fn i32_to_flag(x: i32) -> u32 {
  return select(0u, 1u, x != 0);
}
fn u32_to_flag(x: u32) -> u32 {
  return select(0u, 1u, x != 0u);
}
fn i64_to_flag(x: i64) -> u32 {
  return select(0u, 1u, (x.x | x.y) != 0u);
}
