// Trigonometric functions of f32, for arguments of any size.

// Word i of the binary expansion of 2/pi, after 32 zero bits.
fn m_two_over_pi(i: u32) -> u32 {
  switch (i) {
    case 1u: { return 0xa2f9836eu; }
    case 2u: { return 0x4e441529u; }
    case 3u: { return 0xfc2757d1u; }
    case 4u: { return 0xf534ddc0u; }
    case 5u: { return 0xdb629599u; }
    case 6u: { return 0x3c439041u; }
    case 7u: { return 0xfe5163abu; }
    default: { return 0u; }
  }
}

// An angle less a multiple of pi/2, within -pi/4 to pi/4.
struct Reduced {
  rest: f32,
  quadrant: u32,
}

// For x of 128 and more (Payne and Hanek): the significand times those 96
// bits of 2/pi that neither are whole turns nor too small to matter.
fn m_reduce_large(x: f32) -> Reduced {
  let bits = bitcast<u32>(x);
  let significand = (bits & 0x7fffffu) | 0x800000u;
  let position = (bits >> 23u) - 120u;
  let word = position >> 5u;
  let shift = position & 31u;
  let t0 = m_two_over_pi(word);
  let t1 = m_two_over_pi(word + 1u);
  let t2 = m_two_over_pi(word + 2u);
  let t3 = m_two_over_pi(word + 3u);
  let back = 31u - shift;
  let w0 = (t0 << shift) | ((t1 >> 1u) >> back);
  let w1 = (t1 << shift) | ((t2 >> 1u) >> back);
  let w2 = (t2 << shift) | ((t3 >> 1u) >> back);
  // The product's words 1 and 2; two bits of quadrant, 62 of fraction.
  let low = u32_mul_wide(significand, w2).y;
  let middle = i64_add(
    u32_mul_wide(significand, w1), vec2<u32>(low, significand * w0));
  // To nearest: a fraction from 1/2 on is negative and counts a quadrant up.
  let quadrant = (middle.y + 0x20000000u) >> 30u;
  let fraction = u64_shl(middle, 2u);
  let magnitude = i64_abs(fraction);
  let zeros = u64_leading_zeros(magnitude);
  // 12 and 20 bits of the fraction times pi/2, whose first part has 12 bits.
  let leading = u64_shl(magnitude, zeros).y;
  let high = f32(leading & 0xfff00000u);
  let tail = f32(leading & 0xfffffu);
  let rest = (high * 1.5703125 + (high * 0.0004838268 + tail * 1.5707964))
    * bitcast<f32>((95u - zeros) << 23u);
  return Reduced(
    select(rest, -rest, i64_is_negative(fraction)), quadrant);
}

// For x from 0 to 201, where the quotient has 8 bits and the first parts of
// pi/2 have 16, so that their products are exact.
fn m_reduce_small(x: f32) -> Reduced {
  let q = round(x * 0.63661975);
  let rest = ((x - q * 1.5707703) - q * 2.6063062e-5) - q * 6.0771006e-11;
  return Reduced(rest, u32(q));
}

fn m_reduce(x: f32) -> Reduced {
  if (bitcast<u32>(x) < 0x43490000u) {
    return m_reduce_small(x);
  }
  return m_reduce_large(x);
}

fn m_sin_core(r: f32) -> f32 {
  let z = r * r;
  return r + r * z * (-0.16666655 + z * (0.008332187 + z * -0.00019517909));
}

fn m_cos_core(r: f32) -> f32 {
  let z = r * r;
  return (1.0 - 0.5 * z)
    + z * z * (0.041666646 + z * (-0.001388731 + z * 2.4432336e-5));
}

// sin(r + quadrant * pi/2)
fn m_sin_quadrant(reduced: Reduced) -> f32 {
  let value = select(m_sin_core(reduced.rest), m_cos_core(reduced.rest),
                     (reduced.quadrant & 1u) != 0u);
  return select(value, -value, (reduced.quadrant & 2u) != 0u);
}

fn m_sin(x: f32) -> f32 {
  let value = m_sin_quadrant(m_reduce(abs_f32(x)));
  let signed = select(value, -value, signbit_f32(x));
  return select(nan_f32(), signed, is_finite(x));
}

fn m_cos(x: f32) -> f32 {
  let reduced = m_reduce(abs_f32(x));
  let value = m_sin_quadrant(Reduced(reduced.rest, reduced.quadrant + 1u));
  return select(nan_f32(), value, is_finite(x));
}

fn m_tan(x: f32) -> f32 {
  let reduced = m_reduce(abs_f32(x));
  let s = m_sin_core(reduced.rest);
  let c = m_cos_core(reduced.rest);
  let odd = (reduced.quadrant & 1u) != 0u;
  let value = select(s, -c, odd) / select(c, s, odd);
  let signed = select(value, -value, signbit_f32(x));
  return select(nan_f32(), signed, is_finite(x));
}

// (asin(s) - s) / s for z = s^2 up to 1/4.
fn m_asin_core(z: f32) -> f32 {
  return z * (0.16666752 + z * (0.074953094 + z * (0.04546915
    + z * (0.024184778 + z * 0.042158306))));
}

// sqrt(z) in two parts, the first of 12 bits; z is not 0.
fn m_sqrt_parts(z: f32) -> vec2<f32> {
  let s = sqrt(z);
  let high = df_high(s);
  return vec2<f32>(high, (z - high * high) / (s + high));
}

fn m_asin(x: f32) -> f32 {
  let a = abs_f32(x);
  let inner = x + x * m_asin_core(x * x);
  // asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2))
  let z = 0.5 * (1.0 - a);
  let s = m_sqrt_parts(max(z, 1e-30));
  let p = (s.x + s.y) * m_asin_core(z) + (s.y + 2.1855694e-8);
  let outer = (1.5707964 - 2.0 * s.x) - 2.0 * p;
  let value = select(copysign_f32(outer, x), inner, a < 0.5);
  return select(nan_f32(), value, a <= 1.0 && !is_nan(x));
}

fn m_acos(x: f32) -> f32 {
  let a = abs_f32(x);
  let inner = 1.5707964 - (x + (x * m_asin_core(x * x) + 4.371139e-8));
  let z = 0.5 * (1.0 - a);
  let s = m_sqrt_parts(max(z, 1e-30));
  let p = (s.x + s.y) * m_asin_core(z) + s.y;
  // 2 asin(s), or pi less it.
  let positive = 2.0 * (s.x + p);
  let negative = (3.1415927 - 2.0 * s.x) - 2.0 * (p + 4.371139e-8);
  let outer = select(select(positive, 0.0, z == 0.0), negative, x < 0.0);
  let value = select(outer, inner, a < 0.5);
  return select(nan_f32(), value, a <= 1.0 && !is_nan(x));
}

// atan(t) for t from 0 to 1.
fn m_atan_core(t: f32) -> f32 {
  let z = t * t;
  return t + t * z * (-0.333333 + z * (0.19998534 + z * (-0.14264102
    + z * (0.10951506 + z * (-0.08401582 + z * (0.05792723
    + z * (-0.031148937 + z * (0.0108996965 + z * -0.0017904058))))))));
}

fn m_atan(x: f32) -> f32 {
  let a = abs_f32(x);
  let outer = a > 1.0;
  let p = m_atan_core(select(a, 1.0 / max(a, 1.0), outer));
  let value = select(p, 1.5707964 - (p + 4.371139e-8), outer);
  return select(copysign_f32(value, x), x, is_nan(x));
}

fn m_atan2(y: f32, x: f32) -> f32 {
  let a = abs_f32(y);
  let b = abs_f32(x);
  let steep = a > b;
  // Equal operands, also both zero or both infinite, need no quotient.
  let equal = bitcast<u32>(a) == bitcast<u32>(b);
  let quotient = select(min(a, b), 1.0, equal) / select(max(a, b), 1.0, equal);
  let p = m_atan_core(select(quotient, 0.0, equal && bitcast<u32>(a) == 0u));
  // The angle is base +- p.
  let left = signbit_f32(x);
  let base = select(select(0.0, 3.1415927, left), 1.5707964, steep);
  let low = select(select(0.0, -8.742278e-8, left), -4.371139e-8, steep);
  let value = base + (select(p, -p, left != steep) + low);
  return select(copysign_f32(value, y), nan_f32(), is_unordered(x, y));
}
