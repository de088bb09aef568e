// The generic operations of a kernel whose compute type is i64: int64 tensors.
// Exactly one t_ file is linked into a kernel.

alias T = vec2<u32>;

fn t_zero() -> i64 {
  return vec2<u32>(0u);
}

fn t_one() -> i64 {
  return vec2<u32>(1u, 0u);
}

// The words that stand for a value between two kernels.
fn t_words(a: i64) -> vec2<u32> {
  return a;
}

fn t_of_words(w: vec2<u32>) -> i64 {
  return w;
}

fn t_from_i32(v: i32) -> i64 {
  return i64_from_i32(v);
}

fn t_from_i64(v: i64) -> i64 {
  return v;
}

fn t_to_i64(a: i64) -> i64 {
  return a;
}

fn t_from_f32(v: f32) -> i64 {
  return f32_to_i64(v);
}

fn t_to_f32(a: i64) -> f32 {
  return i64_to_f32(a);
}

fn t_is_nan(a: i64) -> bool {
  return false;
}

fn t_from_bool(v: bool) -> i64 {
  return vec2<u32>(select(0u, 1u, v), 0u);
}

fn t_to_bool(a: i64) -> bool {
  return !i64_is_zero(a);
}

fn t_is_zero(a: i64) -> bool {
  return i64_is_zero(a);
}

fn t_lowest() -> i64 {
  return vec2<u32>(0u, 0x80000000u);
}

fn t_highest() -> i64 {
  return vec2<u32>(0xffffffffu, 0x7fffffffu);
}

fn t_select(f: i64, t: i64, c: bool) -> i64 {
  return select(f, t, c);
}

fn t_add(a: i64, b: i64) -> i64 {
  return i64_add(a, b);
}

fn t_sub(a: i64, b: i64) -> i64 {
  return i64_sub(a, b);
}

fn t_mul(a: i64, b: i64) -> i64 {
  return i64_mul(a, b);
}

fn t_div_trunc(a: i64, b: i64) -> i64 {
  return i64_div_trunc(a, b);
}

fn t_div_floor(a: i64, b: i64) -> i64 {
  return i64_div_floor(a, b);
}

fn t_rem_trunc(a: i64, b: i64) -> i64 {
  return i64_rem_trunc(a, b);
}

fn t_rem_floor(a: i64, b: i64) -> i64 {
  return i64_rem_floor(a, b);
}

fn t_neg(a: i64) -> i64 {
  return i64_neg(a);
}

fn t_abs(a: i64) -> i64 {
  return i64_abs(a);
}

fn t_sign(a: i64) -> i64 {
  return i64_sign(a);
}

fn t_min(a: i64, b: i64) -> i64 {
  return i64_min(a, b);
}

fn t_max(a: i64, b: i64) -> i64 {
  return i64_max(a, b);
}

fn t_lt(a: i64, b: i64) -> bool {
  return i64_lt(a, b);
}

fn t_le(a: i64, b: i64) -> bool {
  return i64_le(a, b);
}

fn t_gt(a: i64, b: i64) -> bool {
  return i64_gt(a, b);
}

fn t_ge(a: i64, b: i64) -> bool {
  return i64_ge(a, b);
}

fn t_eq(a: i64, b: i64) -> bool {
  return i64_eq(a, b);
}

fn t_ne(a: i64, b: i64) -> bool {
  return i64_ne(a, b);
}

fn t_square(a: i64) -> i64 {
  return i64_mul(a, a);
}

fn t_pow(a: i64, b: i64) -> i64 {
  return i64_pow(a, b);
}

fn t_and(a: i64, b: i64) -> i64 {
  return i64_and(a, b);
}

fn t_or(a: i64, b: i64) -> i64 {
  return i64_or(a, b);
}

fn t_xor(a: i64, b: i64) -> i64 {
  return i64_xor(a, b);
}

fn t_not(a: i64) -> i64 {
  return i64_not(a);
}

// A count below 0 or above 63 shifts everything out.
fn t_shl(a: i64, b: i64) -> i64 {
  return i64_shl(a, b);
}

fn t_shr(a: i64, b: i64) -> i64 {
  return i64_shr(a, b);
}
