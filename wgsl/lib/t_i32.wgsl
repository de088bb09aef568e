// The generic operations of a kernel whose compute type is i32: int32, int16
// and int8 tensors (a store drops the high bits, so these wrap as well).
// Exactly one t_ file is linked into a kernel.

alias T = i32;

fn t_zero() -> i32 {
  return 0;
}

fn t_one() -> i32 {
  return 1;
}

// The words that stand for a value between two kernels.
fn t_words(a: i32) -> vec2<u32> {
  return vec2<u32>(bitcast<u32>(a), 0u);
}

fn t_of_words(w: vec2<u32>) -> i32 {
  return bitcast<i32>(w.x);
}

fn t_from_i32(v: i32) -> i32 {
  return v;
}

fn t_from_i64(v: i64) -> i32 {
  return i64_to_i32(v);
}

fn t_to_i64(a: i32) -> i64 {
  return i32_to_i64(a);
}

fn t_from_f32(v: f32) -> i32 {
  return f32_to_i32(v);
}

fn t_to_f32(a: i32) -> f32 {
  return i32_to_f32(a);
}

fn t_is_nan(a: i32) -> bool {
  return false;
}

fn t_from_bool(v: bool) -> i32 {
  return select(0, 1, v);
}

fn t_to_bool(a: i32) -> bool {
  return a != 0;
}

fn t_is_zero(a: i32) -> bool {
  return a == 0;
}

fn t_lowest() -> i32 {
  return -2147483647 - 1;
}

fn t_highest() -> i32 {
  return 2147483647;
}

fn t_select(f: i32, t: i32, c: bool) -> i32 {
  return select(f, t, c);
}

fn t_add(a: i32, b: i32) -> i32 {
  return a + b;
}

fn t_sub(a: i32, b: i32) -> i32 {
  return a - b;
}

fn t_mul(a: i32, b: i32) -> i32 {
  return a * b;
}

fn t_div_trunc(a: i32, b: i32) -> i32 {
  return a / b;
}

// WGSL defines the quotient for every divisor, but not, in all compilers, a
// remainder that belongs to it: it is recomputed.
fn t_rem_trunc(a: i32, b: i32) -> i32 {
  return a - (a / b) * b;
}

fn t_rounds_down(rest: i32, b: i32) -> bool {
  return rest != 0 && (rest ^ b) < 0;
}

fn t_div_floor(a: i32, b: i32) -> i32 {
  let q = a / b;
  return q - select(0, 1, t_rounds_down(a - q * b, b));
}

fn t_rem_floor(a: i32, b: i32) -> i32 {
  let rest = t_rem_trunc(a, b);
  return rest + select(0, b, t_rounds_down(rest, b));
}

fn t_neg(a: i32) -> i32 {
  return -a;
}

fn t_abs(a: i32) -> i32 {
  return abs(a);
}

fn t_sign(a: i32) -> i32 {
  return sign(a);
}

fn t_min(a: i32, b: i32) -> i32 {
  return min(a, b);
}

fn t_max(a: i32, b: i32) -> i32 {
  return max(a, b);
}

fn t_lt(a: i32, b: i32) -> bool {
  return a < b;
}

fn t_le(a: i32, b: i32) -> bool {
  return a <= b;
}

fn t_gt(a: i32, b: i32) -> bool {
  return a > b;
}

fn t_ge(a: i32, b: i32) -> bool {
  return a >= b;
}

fn t_eq(a: i32, b: i32) -> bool {
  return a == b;
}

fn t_ne(a: i32, b: i32) -> bool {
  return a != b;
}

fn t_square(a: i32) -> i32 {
  return a * a;
}

// As torch for integers: a negative exponent gives 0, but 1 and -1 keep their
// powers.
fn t_pow(a: i32, b: i32) -> i32 {
  if (b < 0) {
    let unit = a == 1 || a == -1;
    return select(0, select(1, a, (b & 1) != 0), unit);
  }
  var result = 1;
  var factor = a;
  var e = b;
  while (e != 0) {
    if ((e & 1) != 0) {
      result *= factor;
    }
    factor *= factor;
    e >>= 1u;
  }
  return result;
}

fn t_and(a: i32, b: i32) -> i32 {
  return a & b;
}

fn t_or(a: i32, b: i32) -> i32 {
  return a | b;
}

fn t_xor(a: i32, b: i32) -> i32 {
  return a ^ b;
}

fn t_not(a: i32) -> i32 {
  return ~a;
}

// A count below 0 or above 31 shifts everything out.
fn t_shl(a: i32, b: i32) -> i32 {
  return select(0, a << (bitcast<u32>(b) & 31u), bitcast<u32>(b) < 32u);
}

fn t_shr(a: i32, b: i32) -> i32 {
  return a >> min(bitcast<u32>(b), 31u);
}
