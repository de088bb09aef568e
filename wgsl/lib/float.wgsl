// Facts about f32 values, from their bits: WGSL lets a compiler assume that
// NaN and infinity do not occur, so `x != x` is no test and `max` may drop a
// NaN.

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) << 1u) > 0xff000000u;
}

// True if a or b is NaN.
fn is_unordered(a: f32, b: f32) -> bool {
  return max(bitcast<u32>(a) << 1u, bitcast<u32>(b) << 1u) > 0xff000000u;
}

fn is_inf(x: f32) -> bool {
  return (bitcast<u32>(x) << 1u) == 0xff000000u;
}

fn is_finite(x: f32) -> bool {
  return (bitcast<u32>(x) << 1u) < 0xff000000u;
}

// True for +0 and -0 only; a denormal is not zero, whatever the device flushes.
fn is_zero_f32(x: f32) -> bool {
  return (bitcast<u32>(x) << 1u) == 0u;
}

fn signbit_f32(x: f32) -> bool {
  return bitcast<i32>(x) < 0;
}

fn abs_f32(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu);
}

fn copysign_f32(magnitude: f32, sign: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(magnitude) & 0x7fffffffu)
                      | (bitcast<u32>(sign) & 0x80000000u));
}

// A constant bitcast to NaN or infinity does not compile; a variable's does.
fn nan_f32() -> f32 {
  var bits = 0x7fc00000u;
  return bitcast<f32>(bits);
}

fn inf_f32() -> f32 {
  var bits = 0x7f800000u;
  return bitcast<f32>(bits);
}

// Infinity with the sign of x.
fn inf_like(x: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(x) & 0x80000000u) | 0x7f800000u);
}

// maximum and minimum: NaN if either operand is NaN.
fn max_nan(a: f32, b: f32) -> f32 {
  return select(max(a, b), nan_f32(), is_unordered(a, b));
}

fn min_nan(a: f32, b: f32) -> f32 {
  return select(min(a, b), nan_f32(), is_unordered(a, b));
}

// fmax and fmin: the other operand if one is NaN.
fn max_num(a: f32, b: f32) -> f32 {
  return select(select(max(a, b), a, is_nan(b)), b, is_nan(a));
}

fn min_num(a: f32, b: f32) -> f32 {
  return select(select(min(a, b), a, is_nan(b)), b, is_nan(a));
}
