// A sum and what rounding took from it: running sums are as exact as the CPU's,
// which adds in float64.
fn exact_add(acc: vec2<f32>, x: f32) -> vec2<f32> {
  let sum = df_sum(acc.x, x);
  return vec2<f32>(sum.x, acc.y + sum.y);
}
fn exact_merge(acc: vec2<f32>, other: vec2<f32>) -> vec2<f32> {
  let sum = df_sum(acc.x, other.x);
  return vec2<f32>(sum.x, acc.y + other.y + sum.y);
}
fn exact_words(acc: vec2<f32>) -> vec4<u32> {
  return vec4<u32>(bitcast<vec2<u32>>(acc), 0u, 0u);
}
fn exact_of_words(w: vec4<u32>) -> vec2<f32> {
  return bitcast<vec2<f32>>(w.xy);
}
// After an infinity the rest is NaN, the sum is not.
fn exact_value(acc: vec2<f32>) -> f32 {
  return select(acc.x, acc.x + acc.y, is_finite(acc.x));
}

// As larger and smaller of lib/reduce.wgsl, but of equal values the last wins.
fn last_larger(a: Indexed, b: Indexed) -> Indexed {
  let a_nan = t_ne(a.value, a.value);
  if (t_ne(b.value, b.value) || (!a_nan && t_ge(b.value, a.value))) {
    return b;
  }
  return a;
}
fn last_smaller(a: Indexed, b: Indexed) -> Indexed {
  let a_nan = t_ne(a.value, a.value);
  if (t_ne(b.value, b.value) || (!a_nan && t_le(b.value, a.value))) {
    return b;
  }
  return a;
}
