// Elementary functions of f32 with errors of about 1 ulp and the special cases
// of C: the built-in ones are only as accurate as the driver makes them. NaN
// gives NaN.
//
// No function relies on a fused fma. Compilers do use (a + b) - a = b, which
// destroys the usual computation of a rounding error: here a sum's leading
// part is cut off by a mask, through which no compiler sees. They also turn
// a + (b + c * d) into (a + b) + c * d; m_keep stops that.

// x, if it is finite: no compiler can tell that min changes nothing.
fn m_keep(x: f32) -> f32 {
  return min(x, 3e38);
}

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

// sqrt is only as accurate as the driver makes it: one Newton step with the
// exact residue. It is made a little too short, so that a result that is
// already rounded correctly stays, also next to a tie.
fn m_sqrt(x: f32) -> f32 {
  let s = sqrt(x);
  let high = df_high(s);
  let low = s - high;
  let residue = ((x - high * high) - 2.0 * high * low) - low * low;
  // Where the squares would underflow or overflow, s stays as it is.
  let bits = bitcast<u32>(x);
  let safe = bits > 0x0d000000u && bits < 0x7f800000u;
  return select(s, s + 0.49999976 * residue / s, safe);
}

fn m_rsqrt(x: f32) -> f32 {
  return 1.0 / m_sqrt(x);
}

// Half to even; -0.5 to 0 gives -0.
fn m_round_even(x: f32) -> f32 {
  return copysign_f32(round(x), x);
}

fn m_cbrt(x: f32) -> f32 {
  let magnitude = abs_f32(x);
  // Away from the ends of the range, by a power of 8.
  let small = bitcast<u32>(magnitude) < 0x800000u;
  let large = bitcast<u32>(magnitude) > 0x7b000000u;
  let a = magnitude * select(select(1.0, 5.9604645e-8, large), 16777216.0,
                             small);
  // A third of the exponent, a step of Halley's iteration, and one of
  // Newton's with an exact residue.
  var t = bitcast<f32>(bitcast<u32>(a) / 3u + 709921077u);
  let cube = t * t * t;
  t = t * ((cube + a + a) / (cube + cube + a));
  let square = df_product(t, t);
  let above = df_product(t, square.x);
  let residue = ((above.x - a) + above.y) + t * square.y;
  t -= residue / (3.0 * square.x);
  t *= select(select(1.0, 256.0, large), 0.00390625, small);
  let regular = is_finite(x) && !is_zero_f32(x);
  return select(x, copysign_f32(t, x), regular);
}

fn m_hypot(a: f32, b: f32) -> f32 {
  let big = max(bitcast<u32>(a) & 0x7fffffffu, bitcast<u32>(b) & 0x7fffffffu);
  // Powers of two that bring the larger operand near 1 and back.
  let exponent = clamp(big >> 23u, 1u, 253u);
  let down = bitcast<f32>((254u - exponent) << 23u);
  let up = bitcast<f32>(exponent << 23u);
  let x = a * down;
  let y = b * down;
  let length = m_sqrt(x * x + y * y) * up;
  return select(select(length, nan_f32(), is_unordered(a, b)), inf_f32(),
                is_inf(a) || is_inf(b));
}

// 2^f for |f| at most a little above 1/2.
fn m_exp2_core(f: f32) -> f32 {
  return 1.0 + f * (0.6931472 + f * (0.24022648 + f * (0.055503596
    + f * (0.009618499 + f * (0.001339097 + f * 0.0001532931)))));
}

fn m_exp2(x: f32) -> f32 {
  let c = clamp(x, -152.0, 129.0);
  let whole = round(c);
  return select(
    m_ldexp(m_exp2_core(c - whole), i32(whole)), x, is_nan(x));
}

// x less a multiple of log(2): the multiple, and the rest in two parts. The
// first part of log(2) has 9 bits, so its product is exact.
struct ReducedExp {
  whole: f32,
  rest: f32,
  low: f32,
}

fn m_exp_reduce(x: f32) -> ReducedExp {
  let whole = round(x * 1.442695);
  return ReducedExp(whole, x - whole * 0.693359375, whole * 0.00021219444);
}

// exp(rest + low) - 1 for a sum of at most log(2) / 2 = 0.3466.
fn m_expm1_core(rest: f32, low: f32) -> f32 {
  let r = rest + low;
  return rest + (low + r * r * (0.49999994 + r * (0.16666521
    + r * (0.041668277 + r * (0.008368687 + r * 0.0013819824)))));
}

// exp(x + low) * 2^scale for a small low, without overflow or underflow in
// between.
fn m_exp_scaled(x: f32, low: f32, scale: i32) -> f32 {
  let reduced = m_exp_reduce(clamp(x, -130.0, 90.0));
  let e = 1.0 + m_keep(m_expm1_core(reduced.rest, reduced.low + low));
  return select(m_ldexp(e, i32(reduced.whole) + scale), x, is_nan(x));
}

fn m_exp(x: f32) -> f32 {
  return m_exp_scaled(x, 0.0, 0);
}

// exp of four numbers of which none is NaN or above 88; 0 below -87.3, where it
// is not a normal number. Adding 1.5 * 2^23 rounds to a whole number, which is
// then in the sum's low bits.
fn m_exp4(x: vec4<f32>) -> vec4<f32> {
  let n = bitcast<vec4<i32>>(x * 1.442695 + 12582912.0) - 0x4b400000;
  let whole = vec4<f32>(n);
  let r = (x - whole * 0.693359375) + whole * 0.00021219444;
  let e = 1.0 + r * (1.0 + r * (0.499992 + r * (0.16667134
    + r * (0.0418945 + r * 0.00831205))));
  let scaled = bitcast<vec4<i32>>(e) + (n << vec4<u32>(23u));
  return select(bitcast<vec4<f32>>(scaled), vec4<f32>(), x < vec4<f32>(-87.3));
}

// The same of numbers that may be NaN.
fn m_exp4_nan(x: vec4<f32>) -> vec4<f32> {
  let bits = bitcast<vec4<u32>>(x) << vec4<u32>(1u);
  return select(m_exp4(x), x, bits > vec4<u32>(0xff000000u));
}

fn m_expm1(x: f32) -> f32 {
  let reduced = m_exp_reduce(clamp(x, -25.0, 90.0));
  let n = i32(reduced.whole);
  let e = m_expm1_core(reduced.rest, reduced.low);
  let less = bitcast<f32>(max(127 - n, 0) << 23u);
  let scaled = m_ldexp(e + (1.0 - less), n);
  let tiny = abs_f32(x) < 2.9802322e-8;
  return select(select(scaled, e, n == 0), x, tiny || is_nan(x));
}

// log(1 + f) - f for f from sqrt(1/2) - 1 to sqrt(2) - 1.
fn m_log_tail(f: f32) -> f32 {
  let q = f * f;
  let p = 0.33333313 + f * (-0.2500001 + f * (0.20002073 + f * (-0.16667996
    + f * (0.14220327 + f * (-0.12406032 + f * (0.11883568
    + f * (-0.11671449 + f * 0.06750956)))))));
  return f * q * p - 0.5 * q;
}

// A logarithm's value at 0, below it, at infinity and NaN.
fn m_log_domain(x: f32, value: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let special = select(select(nan_f32(), x, bits == 0x7f800000u),
                       -inf_f32(), (bits << 1u) == 0u);
  return select(special, value, bits - 1u < 0x7f7fffffu);
}

fn m_log(x: f32) -> f32 {
  let parts = m_decompose(x);
  let f = parts.mantissa - 1.0;
  let e = f32(parts.exponent);
  let value = e * 0.693359375
    + (f + (m_log_tail(f) - e * 0.00021219444));
  return m_log_domain(x, value);
}

// log(1 + f) times a constant in two parts, of which the first has 12 bits;
// plus an offset in two parts.
fn m_log_scaled(f: f32, scale: vec2<f32>, offset: vec2<f32>) -> f32 {
  let tail = m_log_tail(f);
  let high = df_high(f + tail);
  let low = (f - high) + tail;
  return (offset.x + high * scale.x)
    + (low * (scale.x + scale.y) + (high * scale.y + offset.y));
}

fn m_log2(x: f32) -> f32 {
  let parts = m_decompose(x);
  return m_log_domain(
    x, m_log_scaled(parts.mantissa - 1.0,
                    vec2<f32>(1.4423828, 0.0003122284),
                    vec2<f32>(f32(parts.exponent), 0.0)));
}

fn m_log10(x: f32) -> f32 {
  let parts = m_decompose(x);
  let e = f32(parts.exponent);
  return m_log_domain(
    x, m_log_scaled(parts.mantissa - 1.0,
                    vec2<f32>(0.4342041, 9.0380337e-5),
                    vec2<f32>(e * 0.30102539, e * 4.605039e-6)));
}

fn m_log1p(x: f32) -> f32 {
  // 1 + x in two parts: log(u + c) = log(u) + c / u.
  let u = df_sum(max(x, 1.0), min(x, 1.0));
  let direct = x > -0.29289 && x < 0.41421;
  let parts = m_decompose(u.x);
  let f = select(parts.mantissa - 1.0, x, direct);
  let e = select(f32(parts.exponent), 0.0, direct);
  let c = select(u.y / u.x, 0.0, direct);
  let value = e * 0.693359375
    + (f + (m_log_tail(f) + (c - e * 0.00021219444)));
  let tiny = abs_f32(x) < 2.9802322e-8;
  return select(select(nan_f32(), m_log_domain(1.0 + x, value), x >= -1.0),
                x, tiny || is_nan(x) || bitcast<u32>(x) == 0x7f800000u);
}

fn m_sinh(x: f32) -> f32 {
  let a = abs_f32(x);
  let z = x * x;
  let small = x + x * z * (0.16666667 + z * (0.0083333105
    + z * (0.00019842896 + z * 2.7822132e-6)));
  let half = m_exp_scaled(a, 0.0, -1);
  return select(copysign_f32(half - 0.25 / half, x), small, a < 1.0);
}

fn m_cosh(x: f32) -> f32 {
  let half = m_exp_scaled(abs_f32(x), 0.0, -1);
  return half + 0.25 / half;
}

fn m_tanh(x: f32) -> f32 {
  let a = abs_f32(x);
  let z = x * x;
  let small = x + x * z * (-0.3333328 + z * (0.1333141 + z * (-0.05373714
    + z * (0.020630825 + z * -0.005695813))));
  let large = 1.0 - 2.0 / (1.0 + m_exp(2.0 * min(a, 10.0)));
  return select(copysign_f32(select(large, small, a < 0.625), x), x,
                is_nan(x));
}

fn m_asinh(x: f32) -> f32 {
  let a = abs_f32(x);
  if (a > 8192.0) {
    return copysign_f32(m_log(a) + 0.6931472, x);
  }
  let z = a * a;
  return copysign_f32(m_log1p(a + z / (1.0 + m_sqrt(1.0 + z))), x);
}

fn m_acosh(x: f32) -> f32 {
  if (x > 8192.0) {
    return m_log(x) + 0.6931472;
  }
  let t = x - 1.0;
  let value = m_log1p(t + m_sqrt(2.0 * t + t * t));
  return select(nan_f32(), value, x >= 1.0 && !is_nan(x));
}

fn m_atanh(x: f32) -> f32 {
  let a = abs_f32(x);
  let t = a + a;
  let rest = 1.0 - a;
  let value = 0.5 * m_log1p(select(t / rest, t + t * a / rest, a < 0.5));
  return select(select(nan_f32(), copysign_f32(value, x), a <= 1.0), x,
                is_nan(x) || a < 0.0001220703125);
}

fn m_sigmoid(x: f32) -> f32 {
  let e = m_exp(-abs_f32(x));
  return select(1.0, e, x < 0.0) / (1.0 + e);
}

// log(1 + exp(-|x|)), the smooth part of softplus and log_sigmoid.
fn m_softplus_tail(x: f32) -> f32 {
  return m_log1p(m_exp(-abs_f32(x)));
}

fn m_softplus(x: f32) -> f32 {
  return max(x, 0.0) + m_softplus_tail(x);
}

fn m_log_sigmoid(x: f32) -> f32 {
  return min(x, 0.0) - m_softplus_tail(x);
}
