// Four neighbouring elements of a storage type, from and to their words.

// Four int64, with a vector's component names.
struct I64x4 {
  x: i64,
  y: i64,
  z: i64,
  w: i64,
}

fn unpack4_i64(low: vec4<u32>, high: vec4<u32>) -> I64x4 {
  return I64x4(low.xy, low.zw, high.xy, high.zw);
}

fn unpack4_f32(words: vec4<u32>) -> vec4<f32> {
  return bitcast<vec4<f32>>(words);
}
fn pack4_f32(value: vec4<f32>) -> vec4<u32> {
  return bitcast<vec4<u32>>(value);
}

fn unpack4_i32(words: vec4<u32>) -> vec4<i32> {
  return bitcast<vec4<i32>>(words);
}
fn pack4_i32(value: vec4<i32>) -> vec4<u32> {
  return bitcast<vec4<u32>>(value);
}

fn unpack4_f16(words: vec2<u32>) -> vec4<f32> {
  return vec4<f32>(unpack2x16float(words.x), unpack2x16float(words.y));
}
fn pack4_f16(value: vec4<f32>) -> vec2<u32> {
  return vec2<u32>(
    f32_to_f16_bits(value.x) | (f32_to_f16_bits(value.y) << 16u),
    f32_to_f16_bits(value.z) | (f32_to_f16_bits(value.w) << 16u));
}

fn unpack4_bf16(words: vec2<u32>) -> vec4<f32> {
  return bitcast<vec4<f32>>(vec4<u32>(
    words.x << 16u, words.x & 0xffff0000u,
    words.y << 16u, words.y & 0xffff0000u));
}
fn pack4_bf16(value: vec4<f32>) -> vec2<u32> {
  return vec2<u32>(
    f32_to_bf16_bits(value.x) | (f32_to_bf16_bits(value.y) << 16u),
    f32_to_bf16_bits(value.z) | (f32_to_bf16_bits(value.w) << 16u));
}

fn unpack4_i16(words: vec2<u32>) -> vec4<i32> {
  let w = bitcast<vec2<i32>>(words);
  return vec4<i32>((w.x << 16u) >> 16u, w.x >> 16u,
                   (w.y << 16u) >> 16u, w.y >> 16u);
}
fn pack4_i16(value: vec4<i32>) -> vec2<u32> {
  let v = bitcast<vec4<u32>>(value);
  return vec2<u32>((v.x & 0xffffu) | (v.y << 16u),
                   (v.z & 0xffffu) | (v.w << 16u));
}

fn unpack4_i8(word: u32) -> vec4<i32> {
  let w = bitcast<i32>(word);
  return vec4<i32>((w << 24u) >> 24u, (w << 16u) >> 24u, (w << 8u) >> 24u,
                   w >> 24u);
}
fn pack4_i8(value: vec4<i32>) -> u32 {
  return pack4_u8(bitcast<vec4<u32>>(value));
}

fn unpack4_u8(word: u32) -> vec4<u32> {
  return vec4<u32>(word & 0xffu, (word >> 8u) & 0xffu, (word >> 16u) & 0xffu,
                   word >> 24u);
}
fn pack4_u8(value: vec4<u32>) -> u32 {
  return (value.x & 0xffu) | ((value.y & 0xffu) << 8u)
    | ((value.z & 0xffu) << 16u) | (value.w << 24u);
}

fn unpack4_bool(word: u32) -> vec4<u32> {
  return unpack4_u8(word);
}
fn pack4_bool(value: vec4<u32>) -> u32 {
  return select(0u, 1u, value.x != 0u) | select(0u, 0x100u, value.y != 0u)
    | select(0u, 0x10000u, value.z != 0u)
    | select(0u, 0x1000000u, value.w != 0u);
}
