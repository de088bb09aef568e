fn arange_i64(e: u32) -> vec2<u32> {
  return i64_add(p.start, i64_mul(p.step, vec2<u32>(e, 0u)));
}

// `high` and `low` parts of a number of the host's precision: start and step
// are pairs, so that a long range does not drift.
fn arange_f32(e: u32) -> f32 {
  let i = u32_to_f32(e);
  return (p.start_high + p.step_high * i) + (p.start_low + p.step_low * i);
}

// From both ends, so that the last element is the end.
fn linspace_f32(e: u32) -> f32 {
  if e < p.count / 2u {
    return p.start_high + p.step_high * u32_to_f32(e);
  }
  return p.end - p.step_high * u32_to_f32(p.count - 1u - e);
}
