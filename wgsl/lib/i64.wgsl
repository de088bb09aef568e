// 64-bit integers as two 32-bit words: x is the low one, y the high one, so a
// vec2<u32> of a storage buffer is an int64 of the CPU's layout. The i64_
// functions are two's complement and wrap; the u64_ ones are unsigned.

alias i64 = vec2<u32>;

fn i64_from_i32(v: i32) -> i64 {
  return vec2<u32>(bitcast<u32>(v), bitcast<u32>(v >> 31u));
}

fn i64_from_u32(v: u32) -> i64 {
  return vec2<u32>(v, 0u);
}

fn i64_is_zero(a: i64) -> bool {
  return (a.x | a.y) == 0u;
}

fn i64_is_negative(a: i64) -> bool {
  return (a.y >> 31u) != 0u;
}

fn i64_add(a: i64, b: i64) -> i64 {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn i64_sub(a: i64, b: i64) -> i64 {
  return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn i64_neg(a: i64) -> i64 {
  return vec2<u32>(0u - a.x, 0u - a.y - select(0u, 1u, a.x != 0u));
}

// The full product of two words.
fn u32_mul_wide(a: u32, b: u32) -> vec2<u32> {
  let a0 = a & 0xffffu;
  let a1 = a >> 16u;
  let b0 = b & 0xffffu;
  let b1 = b >> 16u;
  let p01 = a0 * b1;
  let p10 = a1 * b0;
  let middle = ((a0 * b0) >> 16u) + (p01 & 0xffffu) + (p10 & 0xffffu);
  return vec2<u32>(
    a * b, a1 * b1 + (p01 >> 16u) + (p10 >> 16u) + (middle >> 16u));
}

fn i64_mul(a: i64, b: i64) -> i64 {
  let low = u32_mul_wide(a.x, b.x);
  return vec2<u32>(low.x, low.y + a.x * b.y + a.y * b.x);
}

fn u64_lt(a: vec2<u32>, b: vec2<u32>) -> bool {
  return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn i64_lt(a: i64, b: i64) -> bool {
  let ah = bitcast<i32>(a.y);
  let bh = bitcast<i32>(b.y);
  return ah < bh || (ah == bh && a.x < b.x);
}

fn i64_le(a: i64, b: i64) -> bool {
  return !i64_lt(b, a);
}

fn i64_gt(a: i64, b: i64) -> bool {
  return i64_lt(b, a);
}

fn i64_ge(a: i64, b: i64) -> bool {
  return !i64_lt(a, b);
}

fn i64_eq(a: i64, b: i64) -> bool {
  return a.x == b.x && a.y == b.y;
}

fn i64_ne(a: i64, b: i64) -> bool {
  return a.x != b.x || a.y != b.y;
}

fn i64_min(a: i64, b: i64) -> i64 {
  return select(a, b, i64_lt(b, a));
}

fn i64_max(a: i64, b: i64) -> i64 {
  return select(a, b, i64_lt(a, b));
}

fn i64_abs(a: i64) -> i64 {
  return select(a, i64_neg(a), i64_is_negative(a));
}

fn i64_sign(a: i64) -> i64 {
  let high = bitcast<u32>(bitcast<i32>(a.y) >> 31u);
  return vec2<u32>(high | select(0u, 1u, !i64_is_zero(a)), high);
}

fn i64_and(a: i64, b: i64) -> i64 {
  return a & b;
}

fn i64_or(a: i64, b: i64) -> i64 {
  return a | b;
}

fn i64_xor(a: i64, b: i64) -> i64 {
  return a ^ b;
}

fn i64_not(a: i64) -> i64 {
  return ~a;
}

// Shifts by a count of 0 to 63. WGSL takes a shift's count modulo 32, so the
// bits that cross over are shifted in two steps.
fn u64_shl(a: vec2<u32>, count: u32) -> vec2<u32> {
  let n = count & 31u;
  let high = (a.y << n) | ((a.x >> 1u) >> (31u - n));
  return select(
    vec2<u32>(a.x << n, high), vec2<u32>(0u, a.x << n), count >= 32u);
}

fn u64_shr(a: vec2<u32>, count: u32) -> vec2<u32> {
  let n = count & 31u;
  let low = (a.x >> n) | ((a.y << 1u) << (31u - n));
  return select(
    vec2<u32>(low, a.y >> n), vec2<u32>(a.y >> n, 0u), count >= 32u);
}

// As torch on the CPU: a count below 0 or above 63 shifts everything out.
fn i64_shl(a: i64, count: i64) -> i64 {
  let valid = count.y == 0u && count.x < 64u;
  return select(vec2<u32>(0u), u64_shl(a, count.x), valid);
}

fn i64_shr(a: i64, count: i64) -> i64 {
  let fill = vec2<u32>(bitcast<u32>(bitcast<i32>(a.y) >> 31u));
  let n = select(63u, count.x, count.y == 0u && count.x < 64u);
  return u64_shr(a ^ fill, n) ^ fill;
}

fn u64_leading_zeros(a: vec2<u32>) -> u32 {
  return select(
    countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}

// One 16-bit digit of a long division: (rest * 2^16 + digit) / divisor, where
// the divisor has its top bit set and rest < divisor. Returns the quotient's
// digit and the new rest.
fn u64_divide_digit(rest: u32, digit: u32, divisor: u32) -> vec2<u32> {
  let d1 = divisor >> 16u;
  let d0 = divisor & 0xffffu;
  var q = rest / d1;
  var r = rest - q * d1;
  // The estimate is at most two too large.
  if (q > 0xffffu || q * d0 > ((r << 16u) | digit)) {
    q -= 1u;
    r += d1;
    if (r <= 0xffffu && (q > 0xffffu || q * d0 > ((r << 16u) | digit))) {
      q -= 1u;
    }
  }
  return vec2<u32>(q, ((rest << 16u) | digit) - q * divisor);
}

// A quotient that fits 32 bits, of a 64-bit number and a divisor above its
// high word. Returns the quotient and the remainder.
fn u64_divide_narrow(a: vec2<u32>, divisor: u32) -> vec2<u32> {
  let shift = countLeadingZeros(divisor);
  let d = divisor << shift;
  let n = u64_shl(a, shift);
  let first = u64_divide_digit(n.y, n.x >> 16u, d);
  let second = u64_divide_digit(first.y, n.x & 0xffffu, d);
  return vec2<u32>((first.x << 16u) | second.x, second.y >> shift);
}

// The quotient in xy, the remainder in zw; both 0 for a divisor of 0.
fn u64_divide(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  if (b.y == 0u) {
    if (b.x == 0u) {
      return vec4<u32>(0u);
    }
    let high = a.y / b.x;
    let low = u64_divide_narrow(vec2<u32>(a.x, a.y - high * b.x), b.x);
    return vec4<u32>(low.x, high, low.y, 0u);
  }
  // Both shortened so that the divisor is one word; the estimate, made one
  // smaller, is then at most one too small.
  let shift = countLeadingZeros(b.y);
  let estimate = u64_divide_narrow(u64_shr(a, 1u), u64_shl(b, shift).y).x;
  var q = u64_shr(vec2<u32>(0u, estimate), 63u - shift).x;
  q -= select(0u, 1u, q != 0u);
  var rest = i64_sub(a, i64_mul(b, vec2<u32>(q, 0u)));
  if (!u64_lt(rest, b)) {
    q += 1u;
    rest = i64_sub(rest, b);
  }
  return vec4<u32>(q, 0u, rest);
}

// Signed division, truncating: the quotient in xy, the remainder (with the
// dividend's sign) in zw.
fn i64_divide(a: i64, b: i64) -> vec4<u32> {
  let parts = u64_divide(i64_abs(a), i64_abs(b));
  let negative = ((a.y ^ b.y) >> 31u) != 0u;
  return vec4<u32>(
    select(parts.xy, i64_neg(parts.xy), negative),
    select(parts.zw, i64_neg(parts.zw), i64_is_negative(a)));
}

fn i64_div_trunc(a: i64, b: i64) -> i64 {
  return i64_divide(a, b).xy;
}

fn i64_rem_trunc(a: i64, b: i64) -> i64 {
  return i64_divide(a, b).zw;
}

// True if a truncated division with this remainder must be corrected to
// round down.
fn i64_rounds_down(rest: i64, b: i64) -> bool {
  return !i64_is_zero(rest) && ((rest.y ^ b.y) >> 31u) != 0u;
}

fn i64_div_floor(a: i64, b: i64) -> i64 {
  let parts = i64_divide(a, b);
  return select(parts.xy, i64_sub(parts.xy, vec2<u32>(1u, 0u)),
                i64_rounds_down(parts.zw, b));
}

fn i64_rem_floor(a: i64, b: i64) -> i64 {
  let rest = i64_divide(a, b).zw;
  return select(rest, i64_add(rest, b), i64_rounds_down(rest, b));
}

// As torch for integers: a negative exponent gives 0, but 1 and -1 keep their
// powers.
fn i64_pow(base: i64, exponent: i64) -> i64 {
  let one = vec2<u32>(1u, 0u);
  if (i64_is_negative(exponent)) {
    let unit = i64_eq(base, one) || all(base == vec2<u32>(0xffffffffu));
    let odd = (exponent.x & 1u) != 0u;
    return select(vec2<u32>(0u), select(one, base, odd), unit);
  }
  var result = one;
  var factor = base;
  var e = exponent;
  while (!i64_is_zero(e)) {
    if ((e.x & 1u) != 0u) {
      result = i64_mul(result, factor);
    }
    factor = i64_mul(factor, factor);
    e = u64_shr(e, 1u);
  }
  return result;
}
