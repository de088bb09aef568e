// Elementary functions of f32 with errors of about 1 ulp and the special cases
// of C: the built-in ones are only as accurate as the driver makes them. NaN
// gives NaN.
//
// No function relies on a fused fma. Compilers do use (a + b) - a = b, which
// destroys the usual computation of a rounding error: here a sum's leading
// part is cut off by a mask, through which no compiler sees.

// x * 2^n for n from -252 to 254, rounded once.
fn m_ldexp(x: f32, n: i32) -> f32 {
  let half = n >> 1u;
  return x * bitcast<f32>((half + 127) << 23u)
         * bitcast<f32>((n - half + 127) << 23u);
}

// A finite positive number as mantissa * 2^exponent, with the mantissa
// between sqrt(1/2) and sqrt(2).
struct Decomposed {
  mantissa: f32,
  exponent: i32,
}

fn m_decompose(x: f32) -> Decomposed {
  let denormal = bitcast<u32>(x) < 0x800000u;
  let bits = bitcast<u32>(select(x, x * 8388608.0, denormal));
  // 0x3f3504f3 is sqrt(1/2): the difference carries into the exponent.
  let shifted = bits - 0x3f3504f3u;
  let exponent = (bitcast<i32>(shifted) >> 23u) - select(0, 23, denormal);
  return Decomposed(
    bitcast<f32>((shifted & 0x7fffffu) + 0x3f3504f3u), exponent);
}

// Double-float arithmetic: vec2(high, low) with an unevaluated sum.

// The high half of the significand: the product of two halves is exact.
fn df_high(a: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
}

// a + b to about 44 bits, for |a| >= |b|.
fn df_sum(a: f32, b: f32) -> vec2<f32> {
  let s = bitcast<f32>(bitcast<u32>(a + b) & 0xfffffff0u);
  return vec2<f32>(s, (a - s) + b);
}

// a * b exactly.
fn df_product(a: f32, b: f32) -> vec2<f32> {
  let p = a * b;
  let ah = df_high(a);
  let al = a - ah;
  let bh = df_high(b);
  let bl = b - bh;
  return vec2<f32>(p, ((ah * bh - p) + ah * bl + al * bh) + al * bl);
}

fn df_mul(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let p = df_product(a.x, b.x);
  return df_sum(p.x, p.y + (a.x * b.y + a.y * b.x));
}

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

// 2^f for |f| at most a little above 1/2.
fn m_exp2_core(f: f32) -> f32 {
  return 1.0 + f * (0.6931472 + f * (0.24022648 + f * (0.055503596
    + f * (0.009618499 + f * (0.001339097 + f * 0.0001532931)))));
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
