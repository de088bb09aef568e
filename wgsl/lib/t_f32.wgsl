// The generic operations of a kernel whose compute type is f32: float32,
// float16 and bfloat16 tensors. Exactly one t_ file is linked into a kernel.

alias T = f32;

fn t_zero() -> f32 {
  return 0.0;
}

fn t_one() -> f32 {
  return 1.0;
}

// The words that stand for a value between two kernels.
fn t_words(a: f32) -> vec2<u32> {
  return vec2<u32>(bitcast<u32>(a), 0u);
}

fn t_of_words(w: vec2<u32>) -> f32 {
  return bitcast<f32>(w.x);
}

fn t_from_i32(v: i32) -> f32 {
  return i32_to_f32(v);
}

fn t_from_i64(v: i64) -> f32 {
  return i64_to_f32(v);
}

fn t_to_i64(a: f32) -> i64 {
  return f32_to_i64(a);
}

fn t_from_f32(v: f32) -> f32 {
  return v;
}

fn t_to_f32(a: f32) -> f32 {
  return a;
}

fn t_is_nan(a: f32) -> bool {
  return is_nan(a);
}

fn t_from_bool(v: bool) -> f32 {
  return select(0.0, 1.0, v);
}

fn t_to_bool(a: f32) -> bool {
  return f32_to_bool(a);
}

fn t_is_zero(a: f32) -> bool {
  return is_zero_f32(a);
}

fn t_lowest() -> f32 {
  return -inf_f32();
}

fn t_highest() -> f32 {
  return inf_f32();
}

fn t_select(f: f32, t: f32, c: bool) -> f32 {
  return select(f, t, c);
}

fn t_add(a: f32, b: f32) -> f32 {
  return a + b;
}

fn t_sub(a: f32, b: f32) -> f32 {
  return a - b;
}

fn t_mul(a: f32, b: f32) -> f32 {
  return a * b;
}

fn t_div(a: f32, b: f32) -> f32 {
  return a / b;
}

fn t_div_trunc(a: f32, b: f32) -> f32 {
  return trunc(a / b);
}

fn t_div_floor(a: f32, b: f32) -> f32 {
  return m_floor_div(a, b);
}

fn t_rem_trunc(a: f32, b: f32) -> f32 {
  return m_fmod(a, b);
}

fn t_rem_floor(a: f32, b: f32) -> f32 {
  return m_remainder(a, b);
}

fn t_neg(a: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(a) ^ 0x80000000u);
}

fn t_abs(a: f32) -> f32 {
  return abs_f32(a);
}

// 0 for NaN, as torch.
fn t_sign(a: f32) -> f32 {
  let one = bitcast<f32>((bitcast<u32>(a) & 0x80000000u) | 0x3f800000u);
  return select(one, 0.0, is_zero_f32(a) || is_nan(a));
}

fn t_min(a: f32, b: f32) -> f32 {
  return min_nan(a, b);
}

fn t_max(a: f32, b: f32) -> f32 {
  return max_nan(a, b);
}

fn t_lt(a: f32, b: f32) -> bool {
  return a < b && !is_unordered(a, b);
}

fn t_le(a: f32, b: f32) -> bool {
  return a <= b && !is_unordered(a, b);
}

fn t_gt(a: f32, b: f32) -> bool {
  return a > b && !is_unordered(a, b);
}

fn t_ge(a: f32, b: f32) -> bool {
  return a >= b && !is_unordered(a, b);
}

fn t_eq(a: f32, b: f32) -> bool {
  return a == b && !is_unordered(a, b);
}

fn t_ne(a: f32, b: f32) -> bool {
  return a != b || is_unordered(a, b);
}

fn t_square(a: f32) -> f32 {
  return a * a;
}

fn t_pow(a: f32, b: f32) -> f32 {
  return m_pow(a, b);
}
