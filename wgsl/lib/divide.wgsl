// Remainders and floor division of f32, exact as C's fmod.

// The significand of a positive number with its leading one at bit 23, and
// the exponent that belongs to it, also for denormals.
fn m_significand(magnitude: u32) -> vec2<u32> {
  let shift = countLeadingZeros(magnitude) - 8u;
  return select(
    vec2<u32>((magnitude & 0x7fffffu) | 0x800000u, magnitude >> 23u),
    vec2<u32>(magnitude << (shift & 31u), 1u - shift),
    magnitude < 0x800000u);
}

// C's fmod, exact: a long division of the significands, 8 bits at a time.
fn m_fmod(a: f32, b: f32) -> f32 {
  let a_magnitude = bitcast<u32>(a) & 0x7fffffffu;
  let b_magnitude = bitcast<u32>(b) & 0x7fffffffu;
  let sign = bitcast<u32>(a) & 0x80000000u;
  if (a_magnitude >= 0x7f800000u || b_magnitude > 0x7f800000u
      || b_magnitude == 0u) {
    return nan_f32();
  }
  if (a_magnitude < b_magnitude) {
    return a;
  }
  let n = m_significand(a_magnitude);
  let d = m_significand(b_magnitude);
  var count = bitcast<i32>(n.y - d.y);
  var rest = n.x - select(0u, d.x, n.x >= d.x);
  while (count > 0 && rest != 0u) {
    rest = (rest << min(u32(count), 8u)) % d.x;
    count -= 8;
  }
  if (rest == 0u) {
    return bitcast<f32>(sign);
  }
  // The remainder is a multiple of the divisor's last place: both forms are
  // exact.
  let shift = countLeadingZeros(rest) - 8u;
  let exponent = bitcast<i32>(d.y - shift);
  let normal = (u32(max(exponent, 1) - 1) << 23u) + (rest << shift);
  let denormal = (rest << shift) >> (u32(max(1 - exponent, 0)) & 31u);
  return bitcast<f32>(sign | select(denormal, normal, exponent > 0));
}

// The remainder with the divisor's sign, as Python's %.
fn m_remainder(a: f32, b: f32) -> f32 {
  let rest = m_fmod(a, b);
  let wrong = !is_zero_f32(rest) && signbit_f32(rest) != signbit_f32(b);
  return select(rest, rest + b, wrong);
}

// floor(a / b) as torch computes it: the quotient of the exact multiple.
fn m_floor_div(a: f32, b: f32) -> f32 {
  if (is_zero_f32(b)) {
    return a / b;
  }
  let rest = m_fmod(a, b);
  let wrong = !is_zero_f32(rest) && signbit_f32(rest) != signbit_f32(b);
  let quotient = (a - rest) / b - select(0.0, 1.0, wrong);
  let whole = floor(quotient);
  let nearest = whole + select(0.0, 1.0, quotient - whole > 0.5);
  return select(nearest, copysign_f32(0.0, a / b), is_zero_f32(quotient));
}
