// C's pow, by way of a double-float logarithm.

// log2 of a finite positive number, to about 2^-36.
fn df_log2(x: f32) -> vec2<f32> {
  let parts = m_decompose(x);
  // log(m) = 2 atanh(s) = 2 s (1 + w (1/3 + w (1/5 + ...))), w = s^2.
  let f = parts.mantissa - 1.0;
  let g = df_sum(1.0, parts.mantissa);
  let quotient = f / (g.x + g.y);
  let back = df_product(quotient, g.x);
  let s = df_sum(
    quotient, (((f - back.x) - back.y) - quotient * g.y) / g.x);
  let w = df_mul(s, s);
  let tail = w.x * (0.20000078 + w.x * (0.14273371 + w.x * 0.11714398));
  let series = df_sum(0.33333334, tail - 9.934108e-9);
  let cubic = df_mul(s, df_mul(w, series));
  let sum = df_sum(s.x, cubic.x);
  let log2_m = df_mul(
    vec2<f32>(sum.x, sum.y + (s.y + cubic.y)),
    vec2<f32>(2.88539, 3.851926e-8));
  let result = df_sum(f32(parts.exponent), log2_m.x);
  return df_sum(result.x, result.y + log2_m.y);
}

// |x|^y for finite x other than 0.
fn m_pow_magnitude(x: f32, y: f32) -> f32 {
  let log2_x = df_log2(x);
  // From 2^35 on the result is 0, 1 or infinity.
  let e = clamp(y, -3.4359738e10, 3.4359738e10);
  let p = df_product(e, log2_x.x);
  let whole = round(clamp(p.x, -160.0, 130.0));
  let fraction = (p.x - whole) + (p.y + e * log2_x.y);
  return m_ldexp(m_exp2_core(clamp(fraction, -1.0, 1.0)), i32(whole));
}

// C's pow, in all cases.
fn m_pow(x: f32, y: f32) -> f32 {
  let x_magnitude = bitcast<u32>(x) & 0x7fffffffu;
  let y_magnitude = bitcast<u32>(y) & 0x7fffffffu;
  if (y_magnitude == 0u || bitcast<u32>(x) == 0x3f800000u) {
    return 1.0;
  }
  if (is_unordered(x, y)) {
    return nan_f32();
  }
  let y_negative = signbit_f32(y);
  let y_integer = y_magnitude >= 0x4b000000u || trunc(y) == y;
  // From 2^24 on every number is even.
  let y_odd = y_integer && y_magnitude < 0x4b800000u
    && (i32(select(0.0, y, y_magnitude < 0x4b800000u)) & 1) != 0;
  var result: f32;
  if (x_magnitude == 0u || x_magnitude == 0x7f800000u) {
    result = select(
      0.0, inf_f32(), (x_magnitude == 0u) == y_negative);
  } else if (signbit_f32(x) && !y_integer) {
    return nan_f32();
  } else {
    result = m_pow_magnitude(bitcast<f32>(x_magnitude), y);
  }
  return select(result, -result, signbit_f32(x) && y_odd);
}
