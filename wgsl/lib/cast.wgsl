// Conversions among the compute types f32, i32, u32 and i64, named
// <from>_to_<to>, and between f32 and the 16-bit floats' bits. Results are
// those of torch on an x86 CPU, also out of range.
//
// u32 is the compute type of uint8 and bool: a conversion to u32 keeps the low
// 32 bits of the integer, of which a store keeps the low 8. A value that is
// used again before it is stored goes through wrap_u8.

fn wrap_u8(v: u32) -> u32 {
  return v & 0xffu;
}

fn wrap_i8(v: i32) -> i32 {
  return (v << 24u) >> 24u;
}

fn wrap_i16(v: i32) -> i32 {
  return (v << 16u) >> 16u;
}

// Truncates; NaN and what does not fit become the lowest value.
fn f32_to_i32(x: f32) -> i32 {
  let fits = (bitcast<u32>(x) & 0x7fffffffu) < 0x4f000000u;
  return select(-2147483647 - 1, i32(select(0.0, x, fits)), fits);
}

fn f32_to_i64(x: f32) -> i64 {
  let bits = bitcast<u32>(x);
  let exponent = (bits >> 23u) & 0xffu;
  if (exponent >= 190u) {
    return vec2<u32>(0u, 0x80000000u);
  }
  if (exponent < 127u) {
    return vec2<u32>(0u);
  }
  let mantissa = vec2<u32>((bits & 0x7fffffu) | 0x800000u, 0u);
  var magnitude: i64;
  if (exponent < 150u) {
    magnitude = vec2<u32>(mantissa.x >> (150u - exponent), 0u);
  } else {
    magnitude = u64_shl(mantissa, exponent - 150u);
  }
  return select(magnitude, i64_neg(magnitude), (bits >> 31u) != 0u);
}

fn f32_to_u32(x: f32) -> u32 {
  return f32_to_i64(x).x;
}

// A f32 from 2^31 on is a multiple of 256, so 32 bits are enough here.
fn f32_to_u8(x: f32) -> u32 {
  return bitcast<u32>(f32_to_i32(x)) & 0xffu;
}

// NaN and denormals are true.
fn f32_to_bool(x: f32) -> bool {
  return (bitcast<u32>(x) << 1u) != 0u;
}

// Both halves are exact, so the sum rounds once, to nearest; the built-in
// conversion may round either way.
fn i32_to_f32(v: i32) -> f32 {
  return f32(v >> 16u) * 65536.0 + f32(v & 0xffff);
}

fn u32_to_f32(v: u32) -> f32 {
  return f32(v >> 16u) * 65536.0 + f32(v & 0xffffu);
}

fn i64_to_f32(v: i64) -> f32 {
  if (i64_is_zero(v)) {
    return 0.0;
  }
  let magnitude = i64_abs(v);
  let shift = u64_leading_zeros(magnitude);
  let m = u64_shl(magnitude, shift);
  let mantissa = m.y >> 8u;
  // Bits below the last place, with a sticky bit for the low word.
  let rest = ((m.y & 0xffu) << 1u) | select(0u, 1u, m.x != 0u);
  let up = select(0u, 1u, rest + (mantissa & 1u) > 0x100u);
  let sign = v.y & 0x80000000u;
  // The mantissa's leading one and a carry both add to the exponent.
  return bitcast<f32>(sign | (((189u - shift) << 23u) + mantissa + up));
}

fn i32_to_i64(v: i32) -> i64 {
  return vec2<u32>(bitcast<u32>(v), bitcast<u32>(v >> 31u));
}

fn u32_to_i64(v: u32) -> i64 {
  return vec2<u32>(v, 0u);
}

fn i64_to_i32(v: i64) -> i32 {
  return bitcast<i32>(v.x);
}

fn i64_to_u32(v: i64) -> u32 {
  return v.x;
}

fn i32_to_u32(v: i32) -> u32 {
  return bitcast<u32>(v);
}

fn u32_to_i32(v: u32) -> i32 {
  return bitcast<i32>(v);
}

fn i32_to_bool(v: i32) -> bool {
  return v != 0;
}

fn u32_to_bool(v: u32) -> bool {
  return v != 0u;
}

fn i64_to_bool(v: i64) -> bool {
  return (v.x | v.y) != 0u;
}

fn bool_to_f32(v: bool) -> f32 {
  return select(0.0, 1.0, v);
}

fn bool_to_i32(v: bool) -> i32 {
  return select(0, 1, v);
}

fn bool_to_u32(v: bool) -> u32 {
  return select(0u, 1u, v);
}

fn bool_to_i64(v: bool) -> i64 {
  return vec2<u32>(select(0u, 1u, v), 0u);
}

// Exact for every pattern; the bits above the low 16 are ignored.
fn f16_bits_to_f32(h: u32) -> f32 {
  let sign = (h & 0x8000u) << 16u;
  let magnitude = h & 0x7fffu;
  // A denormal is a small integer times 2^-24.
  let tiny = bitcast<u32>(f32(magnitude) * 5.9604644775390625e-8);
  let rebias = select(0x38000000u, 0x70000000u, magnitude >= 0x7c00u);
  let bits = select((magnitude << 13u) + rebias, tiny, magnitude < 0x400u);
  return bitcast<f32>(sign | bits);
}

// Nearest, ties to even; overflow gives infinity. Without branches, which cost
// more than both ways do.
fn f32_to_f16_bits(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = (bits >> 16u) & 0x8000u;
  let magnitude = bits & 0x7fffffffu;
  // 2^16 stands for all that is too large, 1.5 * 2^16 for NaN.
  let bounded = select(min(magnitude, 0x47800000u), 0x47c00000u,
                       magnitude > 0x7f800000u);
  // Half of the last bit, less the difference of the exponents' biases.
  let rounded = bounded + 0xc8000fffu + ((bounded >> 13u) & 1u);
  // A denormal: the last bit of a sum with 1/2 is 2^-24.
  let tiny = bitcast<u32>(bitcast<f32>(magnitude) + 0.5) - 0x3f000000u;
  return sign | select(rounded >> 13u, tiny, magnitude < 0x38800000u);
}

fn bf16_bits_to_f32(h: u32) -> f32 {
  return bitcast<f32>(h << 16u);
}

// Nearest, ties to even; a NaN becomes quiet, so that it stays one.
fn f32_to_bf16_bits(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
  let quiet = (bits >> 16u) | 0x40u;
  return select(rounded, quiet, (bits << 1u) > 0xff000000u);
}
