// What activations need beyond the elementary functions.

// The normal distribution up to x; erfc keeps the lower tail's digits.
fn m_normal_cdf(x: f32) -> f32 {
  return 0.5 * m_erfc(x * -0.70710678);
}

fn m_normal_density(x: f32) -> f32 {
  return 0.39894228 * m_exp(-0.5 * x * x);
}

// sqrt(2 / pi) * (x + 0.044715 x^3), the argument of gelu's tanh.
fn m_gelu_inner(x: f32) -> f32 {
  return 0.79788456 * (x + 0.044715 * x * x * x);
}

fn m_gelu_tanh(x: f32) -> f32 {
  return 0.5 * x * (1.0 + m_tanh(m_gelu_inner(x)));
}

fn m_gelu_tanh_slope(x: f32) -> f32 {
  let t = m_tanh(m_gelu_inner(x));
  let inner_slope = 0.79788456 * (1.0 + 3.0 * 0.044715 * x * x);
  return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * inner_slope;
}

fn m_mish_slope(x: f32) -> f32 {
  let t = m_tanh(m_log1p(m_exp(x)));
  return t + x * m_sigmoid(x) * (1.0 - t * t);
}
