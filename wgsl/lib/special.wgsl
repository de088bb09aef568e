// Error functions and the gamma function's relatives, of f32.

// (erf(x) - x) / x for z = x^2, |x| up to 0.925.
fn m_erf_core(z: f32) -> f32 {
  return 0.12837917 + z * (-0.3761263 + z * (0.11283626 + z * (-0.026855728
    + z * (0.0051923813 + z * (-0.0008049304 + z * 7.993787e-5)))));
}

fn m_erf(x: f32) -> f32 {
  let a = abs_f32(x);
  let small = x + x * m_erf_core(x * x);
  // -log(1 - erf(c))
  let c = min(a, 4.0);
  let p = -0.00017468445 + c * (1.1295149 + c * (0.6333469 + c * (0.10828004
    + c * (-0.025119351 + c * (0.004171009 + c * (-0.0004344446
    + c * 2.109274e-5))))));
  let large = copysign_f32(1.0 - m_exp(-p), x);
  return select(select(large, small, a < 0.925), x, is_nan(x));
}

// erfc of 0.5 and more.
fn m_erfc_tail(x: f32) -> f32 {
  let c = min(x, 10.5);
  // (1 + 2 c) exp(c^2) erfc(c)
  let t = (c - 4.0) / (c + 4.0);
  let p = 1.2329952 + t * (-0.13962106 + t * (0.015379805 + t * (0.068094365
    + t * (-0.10104422 + t * (0.0937694 + t * (-0.06626202
    + t * (0.03698834 + t * (-0.01657666 + t * 0.0052741873))))))));
  let square = df_product(c, c);
  let divisor = df_sum(c + c, 1.0);
  // What the square, the divisor and the first coefficient lack.
  let low = -(square.y + divisor.y / divisor.x + 2.8224341e-8);
  // Kept 2^32 too large until the end, so that a denormal is rounded once.
  return m_exp_scaled(-square.x, low, 32) * (p / divisor.x) * 2.3283064e-10;
}

fn m_erfc(x: f32) -> f32 {
  let a = abs_f32(x);
  let p = x * m_erf_core(x * x);
  // From 1/4 on both terms are taken from 1/2, which loses nothing.
  let small = select(1.0 - (x + p), 0.5 - ((x - 0.5) + p), x > 0.25);
  let tail = m_erfc_tail(max(a, 0.5));
  let large = select(tail, 2.0 - tail, x < 0.0);
  return select(select(large, small, a < 0.5), x, is_nan(x));
}

fn m_erfinv(x: f32) -> f32 {
  let a = abs_f32(x);
  let w = -m_log((1.0 - a) * (1.0 + a));
  var p: f32;
  if (w < 5.0) {
    let v = w - 2.5;
    p = 1.5014094 + v * (0.24664028 + v * (-0.004177666 + v * (-0.0012527552
      + v * (0.00021857496 + v * (-4.9439304e-6 + v * (-3.5230473e-6
      + v * (4.6007335e-7 + v * (2.8138608e-8 + v * -8.246957e-9))))))));
  } else {
    let v = m_sqrt(w) - 3.125;
    p = 2.9583201 + v * (1.0037186 + v * (0.0070492607 + v * (-0.005299083
      + v * (0.0037792148 + v * (-0.0025317247 + v * (0.0013170189
      + v * (-0.00030232136 + v * (-0.0001784362
      + v * 0.000116174524))))))));
  }
  let value = select(nan_f32(), select(x * p, inf_like(x), a == 1.0),
                     a <= 1.0);
  return select(value, x, is_nan(x));
}

// sin(pi x) for x from 0 to 1/2.
fn m_sinpi_core(x: f32) -> f32 {
  let z = x * x;
  let s = x * 3.1415927 + x * (z * (-5.167709 + z * (2.5497947
    + z * -0.5892765)) - 8.742278e-8);
  let y = (0.5 - x) * (0.5 - x);
  let c = 1.0 + y * (-4.934802 + y * (4.0586967 + y * (-1.3347582
    + y * 0.22898848)));
  return select(c, s, x < 0.25);
}

// log(x) - 1 for a normal x above 1; the 1 is taken off before anything is
// rounded.
fn m_log_less_one(x: f32) -> f32 {
  let parts = m_decompose(x);
  let f = parts.mantissa - 1.0;
  let e = f32(parts.exponent);
  return (e * 0.693359375 - 1.0)
    + (f + (m_log_tail(f) - e * 0.00021219444));
}

// lgamma from 0.7 to 3, by its zeros at 1 and 2.
fn m_lgamma_core(x: f32) -> f32 {
  if (x < 1.5) {
    let t = x - 1.0;
    let p = -0.5772157 + t * (0.82246697 + t * (-0.4006872
      + t * (0.27059415 + t * (-0.20728098 + t * (0.1689163
      + t * (-0.14533374 + t * (0.13586807 + t * (-0.11647453
      + t * 0.05428302))))))));
    // lgamma(1) is +0.
    return select(t * p, 0.0, t == 0.0);
  }
  let t = x - 2.0;
  return t * (0.42278433 + t * (0.32246703 + t * (-0.06735204
    + t * (0.020581096 + t * (-0.0073867906 + t * (0.0028867987
    + t * (-0.0011931504 + t * (0.0005318188 + t * (-0.00022843611
    + t * 5.6538604e-5)))))))));
}

// lgamma of a positive number.
fn m_lgamma_positive(x: f32) -> f32 {
  if (x < 0.7) {
    return m_lgamma_core(x + 1.0) - m_log(x);
  }
  if (x < 3.0) {
    return m_lgamma_core(x);
  }
  // Stirling's series. A result that overflows does so in the product.
  let inverse = 1.0 / x;
  let z = inverse * inverse;
  let series = 0.08333332 + z * (-0.0027769543 + z * (0.0007749264
    + z * -0.00040843454));
  return (x - 0.5) * m_log_less_one(x) + (0.41893855 + inverse * series);
}

// The logarithm of |gamma(x)|. Close to its zeros below -2 the absolute error
// is that of the terms, about 1e-6.
fn m_lgamma(x: f32) -> f32 {
  let a = abs_f32(x);
  if (is_nan(x)) {
    return x;
  }
  // Poles: 0, negative integers (from 2^23 on there is nothing else).
  if (!is_finite(x) || a == 0.0 || (x < 0.0 && floor(a) == a)) {
    return inf_f32();
  }
  let value = m_lgamma_positive(a);
  if (x > 0.0) {
    return value;
  }
  if (a < 1e-10) {
    return -m_log(a);
  }
  let fraction = a - floor(a);
  let s = m_sinpi_core(min(fraction, 1.0 - fraction));
  return m_log(3.1415927 / (a * s)) - value;
}

// digamma of a number above 0.
fn m_digamma_positive(x: f32) -> f32 {
  if (x >= 2.0) {
    let inverse = 1.0 / x;
    let z = inverse * inverse;
    let series = -0.08333321 + z * (0.008326869 + z * (-0.0038488547
      + z * (0.0030849816 + z * -0.0019302802)));
    return m_log(x) + (z * series - 0.5 * inverse);
  }
  // By its zero at 1.46163214..., of which the first constant is the f32; the
  // rest is taken off where a compiler cannot add it to the first.
  let y = select(x, x + 1.0, x < 1.0);
  let t = y - 1.5;
  let p = 0.9510559 + t * (-0.42362747 + t * (0.24053909 + t * (-0.14840047
    + t * (0.09510717 + t * (-0.062033284 + t * (0.039417118
    + t * (-0.025906464 + t * (0.0238252 + t * -0.01616272))))))));
  let value = (y - 1.4616321) * p - 1.2036052e-8;
  return select(value, value - 1.0 / x, x < 1.0);
}

// As torch: infinity at +-0 with the other sign, NaN at negative integers.
// Close to its negative zeros the absolute error is that of the terms.
fn m_digamma(x: f32) -> f32 {
  if (is_nan(x) || bitcast<u32>(x) == 0x7f800000u) {
    return x;
  }
  if (is_zero_f32(x)) {
    return inf_like(-x);
  }
  if (x > 0.0) {
    return m_digamma_positive(x);
  }
  let a = abs_f32(x);
  let fraction = a - floor(a);
  if (!is_finite(x) || fraction == 0.0) {
    return nan_f32();
  }
  // pi cot(pi a), with the nearer integer's fraction
  let f = select(fraction, fraction - 1.0, fraction > 0.5);
  let s = m_sinpi_core(abs(f));
  let c = m_sinpi_core(0.5 - abs(f));
  let cot = 3.1415927 * copysign_f32(c / s, f);
  return m_digamma_positive(a + 1.0) + cot;
}
