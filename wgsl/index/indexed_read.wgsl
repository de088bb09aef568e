// out[...] = self[..., index[...], ...].
fn value(e: u32) -> T {
  let walked = at_all(e);
  let index = p.offset_i + walked.i;
  let place = {{place}};
  if place == no_place {
    return T();
  }
  return load_a(p.offset_a + walked.a + place * p.stride);
}
