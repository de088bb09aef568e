// Accumulators of wgsl/reduce.wgsl that are more than one value, and their
// words, as one stage of a reduction leaves them for the next.

// A value and its place along the reduced dimension.
struct Indexed {
  value: T,
  index: u32,
}
fn indexed_words(a: Indexed) -> vec4<u32> {
  return vec4<u32>(t_words(a.value), a.index, 0u);
}
fn indexed_of_words(w: vec4<u32>) -> Indexed {
  return Indexed(t_of_words(w.xy), w.z);
}

// A NaN is above (and below) every number; of equal values the first wins.
fn larger(a: Indexed, b: Indexed) -> Indexed {
  let a_nan = t_ne(a.value, a.value);
  let b_nan = t_ne(b.value, b.value);
  let equal = (a_nan && b_nan) || t_eq(a.value, b.value);
  let above = !a_nan && (b_nan || t_gt(b.value, a.value));
  if (select(above, b.index < a.index, equal)) {
    return b;
  }
  return a;
}
fn smaller(a: Indexed, b: Indexed) -> Indexed {
  let a_nan = t_ne(a.value, a.value);
  let b_nan = t_ne(b.value, b.value);
  let equal = (a_nan && b_nan) || t_eq(a.value, b.value);
  let below = !a_nan && (b_nan || t_lt(b.value, a.value));
  if (select(below, b.index < a.index, equal)) {
    return b;
  }
  return a;
}

// The least and the greatest value.
struct Range {
  low: T,
  high: T,
}
fn range_words(a: Range) -> vec4<u32> {
  return vec4<u32>(t_words(a.low), t_words(a.high));
}
fn range_of_words(w: vec4<u32>) -> Range {
  return Range(t_of_words(w.xy), t_of_words(w.zw));
}
fn range_merge(a: Range, b: Range) -> Range {
  return Range(t_min(a.low, b.low), t_max(a.high, b.high));
}

// Welford's running mean and sum of squared distances from it, of the
// distances from `shift`, which is one of the values: so little is lost where
// the mean is large.
struct Moments {
  count: f32,
  mean: f32,
  square: f32,
  shift: f32,
}
fn moments_words(a: Moments) -> vec4<u32> {
  return bitcast<vec4<u32>>(vec4<f32>(a.count, a.mean, a.square, a.shift));
}
fn moments_of_words(w: vec4<u32>) -> Moments {
  let v = bitcast<vec4<f32>>(w);
  return Moments(v.x, v.y, v.z, v.w);
}
fn moments_add(a: Moments, x: f32) -> Moments {
  if (a.count == 0.0) {
    return Moments(1.0, 0.0, select(nan_f32(), 0.0, is_finite(x)), x);
  }
  let count = a.count + 1.0;
  let shifted = x - a.shift;
  let distance = shifted - a.mean;
  let mean = a.mean + distance / count;
  return Moments(count, mean, a.square + distance * (shifted - mean), a.shift);
}
fn moments_merge(a: Moments, b: Moments) -> Moments {
  if (a.count == 0.0) {
    return b;
  }
  if (b.count == 0.0) {
    return a;
  }
  let count = a.count + b.count;
  let distance = (b.mean - a.mean) + (b.shift - a.shift);
  let weight = b.count / count;
  return Moments(count, a.mean + distance * weight,
                 a.square + b.square + distance * distance * a.count * weight,
                 a.shift);
}

// The largest value and the sum of the exponentials of the distances from it.
struct LogSum {
  high: f32,
  sum: f32,
}
fn log_sum_words(a: LogSum) -> vec4<u32> {
  return vec4<u32>(bitcast<vec2<u32>>(vec2<f32>(a.high, a.sum)), 0u, 0u);
}
fn log_sum_of_words(w: vec4<u32>) -> LogSum {
  return LogSum(bitcast<f32>(w.x), bitcast<f32>(w.y));
}
fn log_sum_merge(a: LogSum, b: LogSum) -> LogSum {
  let high = max_nan(a.high, b.high);
  // Infinity less itself is NaN: an infinite maximum stands alone.
  if (is_inf(high)) {
    return LogSum(high, 1.0);
  }
  return LogSum(high, a.sum * m_exp(a.high - high) + b.sum * m_exp(b.high - high));
}
// With one exponential, of what the larger is above the smaller.
fn log_sum_add(a: LogSum, x: f32) -> LogSum {
  let high = max_nan(a.high, x);
  if (is_inf(high)) {
    return LogSum(high, 1.0);
  }
  let e = m_exp(-abs_f32(x - a.high));
  return LogSum(high, select(a.sum + e, a.sum * e + 1.0, x > a.high));
}
fn log_sum_value(a: LogSum) -> f32 {
  return a.high + m_log(a.sum);
}

// The accumulator is one value.
fn value_words(a: T) -> vec4<u32> {
  return vec4<u32>(t_words(a), 0u, 0u);
}
fn value_of_words(w: vec4<u32>) -> T {
  return t_of_words(w.xy);
}

// The accumulator is a count or a truth value.
fn count_words(a: u32) -> vec4<u32> {
  return vec4<u32>(a, 0u, 0u, 0u);
}
fn count_of_words(w: vec4<u32>) -> u32 {
  return w.x;
}

// By the parameter p.divisor; NaN or infinity for 0 as in IEEE arithmetic,
// which WGSL does not promise.
fn over_divisor(x: f32) -> f32 {
  if (p.divisor > 0.0) {
    return x / p.divisor;
  }
  return select(inf_like(x), nan_f32(), is_nan(x) || is_zero_f32(x));
}
