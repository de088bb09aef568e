// The generic operations of a kernel whose compute type is u32: uint8 and bool
// tensors. Operands are 0 to 255; a store keeps the low 8 bits, so results of
// add, sub, mul, neg, not, shl, square and pow need not be reduced first
// (wrap_u8 does it where such a result is an operand again).
// Exactly one t_ file is linked into a kernel.

alias T = u32;

fn t_zero() -> u32 {
  return 0u;
}

fn t_one() -> u32 {
  return 1u;
}

// The words that stand for a value between two kernels.
fn t_words(a: u32) -> vec2<u32> {
  return vec2<u32>(a, 0u);
}

fn t_of_words(w: vec2<u32>) -> u32 {
  return w.x;
}

fn t_from_i32(v: i32) -> u32 {
  return bitcast<u32>(v) & 0xffu;
}

fn t_from_i64(v: i64) -> u32 {
  return v.x & 0xffu;
}

fn t_to_i64(a: u32) -> i64 {
  return u32_to_i64(a);
}

fn t_from_f32(v: f32) -> u32 {
  return f32_to_u8(v);
}

fn t_to_f32(a: u32) -> f32 {
  return f32(a);
}

fn t_is_nan(a: u32) -> bool {
  return false;
}

fn t_from_bool(v: bool) -> u32 {
  return select(0u, 1u, v);
}

fn t_to_bool(a: u32) -> bool {
  return a != 0u;
}

fn t_is_zero(a: u32) -> bool {
  return a == 0u;
}

fn t_lowest() -> u32 {
  return 0u;
}

fn t_highest() -> u32 {
  return 255u;
}

fn t_select(f: u32, t: u32, c: bool) -> u32 {
  return select(f, t, c);
}

fn t_add(a: u32, b: u32) -> u32 {
  return a + b;
}

fn t_sub(a: u32, b: u32) -> u32 {
  return a - b;
}

fn t_mul(a: u32, b: u32) -> u32 {
  return a * b;
}

fn t_div_trunc(a: u32, b: u32) -> u32 {
  return a / b;
}

fn t_div_floor(a: u32, b: u32) -> u32 {
  return a / b;
}

fn t_rem_trunc(a: u32, b: u32) -> u32 {
  return a - (a / b) * b;
}

fn t_rem_floor(a: u32, b: u32) -> u32 {
  return a - (a / b) * b;
}

fn t_neg(a: u32) -> u32 {
  return 0u - a;
}

fn t_abs(a: u32) -> u32 {
  return a;
}

fn t_sign(a: u32) -> u32 {
  return min(a, 1u);
}

fn t_min(a: u32, b: u32) -> u32 {
  return min(a, b);
}

fn t_max(a: u32, b: u32) -> u32 {
  return max(a, b);
}

fn t_lt(a: u32, b: u32) -> bool {
  return a < b;
}

fn t_le(a: u32, b: u32) -> bool {
  return a <= b;
}

fn t_gt(a: u32, b: u32) -> bool {
  return a > b;
}

fn t_ge(a: u32, b: u32) -> bool {
  return a >= b;
}

fn t_eq(a: u32, b: u32) -> bool {
  return a == b;
}

fn t_ne(a: u32, b: u32) -> bool {
  return a != b;
}

fn t_square(a: u32) -> u32 {
  return a * a;
}

fn t_pow(a: u32, b: u32) -> u32 {
  var result = 1u;
  var factor = a;
  var e = b;
  while (e != 0u) {
    if ((e & 1u) != 0u) {
      result *= factor;
    }
    factor *= factor;
    e >>= 1u;
  }
  return result;
}

fn t_and(a: u32, b: u32) -> u32 {
  return a & b;
}

fn t_or(a: u32, b: u32) -> u32 {
  return a | b;
}

fn t_xor(a: u32, b: u32) -> u32 {
  return a ^ b;
}

// Bitwise, for uint8; bool's is a logical not, which is not this one.
fn t_not(a: u32) -> u32 {
  return ~a;
}

// A count above 31 shifts everything out; from 8 on the store does.
fn t_shl(a: u32, b: u32) -> u32 {
  return select(0u, a << (b & 31u), b < 32u);
}

fn t_shr(a: u32, b: u32) -> u32 {
  return a >> min(b, 31u);
}
