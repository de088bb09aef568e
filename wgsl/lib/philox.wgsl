// Random bits by counter and key: Philox 4x32 with ten rounds.

fn philox(counter: vec4<u32>, seed: vec2<u32>) -> vec4<u32> {
  var c = counter;
  var key = seed;
  for (var round = 0u; round < 10u; round++) {
    let first = u32_mul_wide(0xd2511f53u, c.x);
    let second = u32_mul_wide(0xcd9e8d57u, c.z);
    c = vec4<u32>(second.y ^ c.y ^ key.x, second.x,
                  first.y ^ c.w ^ key.y, first.x);
    key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
  }
  return c;
}

// A thread's block of random bits, or its second one if `which` is 1.
fn random_block(thread: u32, which: u32) -> vec4<u32> {
  let place = i64_add(p.offset, vec2<u32>(thread, 0u));
  return philox(vec4<u32>(place, which, 0u), p.seed);
}

// True with a probability of threshold / 2^32.
fn is_drawn(bits: u32, threshold: vec2<u32>) -> bool {
  return threshold.y != 0u || bits < threshold.x;
}

// A multiple of 2^-24 from 0 to less than 1.
fn uniform_of(bits: u32) -> f32 {
  return f32(bits >> 8u) * 5.9604644775390625e-8;
}

// Strictly between 0 and 1, down to 2^-33 as small numbers make the tails.
fn open_uniform(bits: u32) -> f32 {
  let u = u32_to_f32(bits) * 2.3283064365386963e-10 + 1.1641532182693481e-10;
  return min(u, 0.99999994);
}

// A point on the unit circle: an angle within a quarter, and which quarter.
fn direction_of(bits: u32) -> vec2<f32> {
  let part = f32((bits & 0x3fffffffu) >> 6u) * 5.9604644775390625e-8 - 0.5;
  let angle = part * 1.5707964;
  let c = m_cos_core(angle);
  let s = m_sin_core(angle);
  let turned = select(vec2<f32>(c, s), vec2<f32>(-s, c), (bits >> 31u) != 0u);
  return select(turned, -turned, (bits & 0x40000000u) != 0u);
}

// Two normal numbers of each pair of words (the method of Box and Muller).
fn normals_of(bits: vec4<u32>) -> vec4<f32> {
  let first = m_sqrt(-2.0 * m_log(open_uniform(bits.x)));
  let second = m_sqrt(-2.0 * m_log(open_uniform(bits.z)));
  return vec4<f32>(first * direction_of(bits.y), second * direction_of(bits.w));
}

// The cotangent of an angle up to pi/2, and a sign: the angle is exact where
// the number is large.
fn cauchy_of(bits: u32) -> f32 {
  let u = u32_to_f32(bits & 0x7fffffffu) + 0.5;
  let value = 1.0 / m_tan(u * 7.314590396885884e-10);
  return select(value, -value, (bits >> 31u) != 0u);
}

// floor(bits * range / 2^64); a range of 0 stands for 2^64.
fn scaled_u64(bits: vec2<u32>, range: vec2<u32>) -> vec2<u32> {
  if range.x == 0u && range.y == 0u {
    return bits;
  }
  let low = u32_mul_wide(bits.x, range.x);
  let left = u32_mul_wide(bits.x, range.y);
  let right = u32_mul_wide(bits.y, range.x);
  let carry = i64_add(i64_add(vec2<u32>(low.y, 0u), vec2<u32>(left.x, 0u)),
                      vec2<u32>(right.x, 0u));
  let high = u32_mul_wide(bits.y, range.y);
  return i64_add(i64_add(high, vec2<u32>(left.y, 0u)),
                 i64_add(vec2<u32>(right.y, 0u), vec2<u32>(carry.y, 0u)));
}

// The probability of element e; one outside of [0, 1] is reported.
fn probability_of(e: u32) -> f32 {
  let value = load_a(p.offset_a + e);
  if is_nan(value) || value < 0.0 || value > 1.0 {
    report_outside(vec2<u32>(bitcast<u32>(value), 0u));
  }
  return value;
}
