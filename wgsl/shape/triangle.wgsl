// An element of the lower or upper triangle of matrices, zero elsewhere.
fn value(e: u32) -> T {
  let col = i32(e % p.cols);
  let row = i32((e / p.cols) % p.rows);
  if !(col - row {{compare}} p.diagonal) {
    return T();
  }
  return load_a(p.offset_a + at_a(e));
}
