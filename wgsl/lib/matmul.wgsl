// What the matrix products share: their parameters and four hooks, which the
// kernel's description gives: matmul_bias and (for whole quads) matmul_bias4,
// matmul_activation and matmul_write.
//
// An operand is read four elements at a time: along the sum ("inner": four k of
// one row of `a` or column of `b`) or along the result ("outer": four rows of
// `a` or columns of `b` at one k). matmul_x_start gives the places of four rows
// (columns), clamped to the matrix, which a load takes with k; what lies beyond
// the sum is 0. The wide forms move quads, so the elements must lie side by
// side from multiples of four on; inner ones then end at a multiple of four.
// Another kind of product (a convolution) exchanges these functions only.

// The tile's column, row and batch.
fn matmul_place(tile: u32) -> vec3<u32> {
  let rest = tile / p.tiles_n;
  return vec3<u32>(tile % p.tiles_n, rest % p.tiles_m, rest / p.tiles_m);
}

// A long sum may be made in parts, by tiles of their own: the batch whose
// matrices are read, the first step of the part and its end. Parts begin at
// multiples of 256.
fn matmul_span(z: u32) -> vec3<u32> {
  let first = z % p.parts * p.part_k;
  return vec3<u32>(z / p.parts, first, min(first + p.part_k, p.k));
}

fn matmul_four(first: u32) -> vec4<u32> {
  return vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u);
}

fn matmul_a_start(batch: u32, row: u32) -> vec4<u32> {
  let rows = min(matmul_four(row), vec4<u32>(p.m - 1u));
  return vec4<u32>(p.offset_a + batch * p.batch_a) + rows * p.row_a;
}
fn matmul_a_inner_wide(start: u32, k: u32) -> vec4<f32> {
  return load4_a((start + k) >> 2u);
}
fn matmul_a_inner(start: u32, k: u32) -> vec4<f32> {
  let inner = matmul_four(k);
  let at = vec4<u32>(start) + min(inner, vec4<u32>(p.k - 1u)) * p.col_a;
  let value = vec4<f32>(load_a(at.x), load_a(at.y), load_a(at.z), load_a(at.w));
  return select(vec4<f32>(), value, inner < vec4<u32>(p.k));
}
fn matmul_a_outer_wide(start: vec4<u32>, k: u32) -> vec4<f32> {
  let value = load4_a((start.x + min(k, p.k - 1u) * p.col_a) >> 2u);
  return select(vec4<f32>(), value, vec4<bool>(k < p.k));
}
fn matmul_a_outer(start: vec4<u32>, k: u32) -> vec4<f32> {
  let at = start + vec4<u32>(min(k, p.k - 1u) * p.col_a);
  let value = vec4<f32>(load_a(at.x), load_a(at.y), load_a(at.z), load_a(at.w));
  return select(vec4<f32>(), value, vec4<bool>(k < p.k));
}

fn matmul_b_start(batch: u32, col: u32) -> vec4<u32> {
  let cols = min(matmul_four(col), vec4<u32>(p.n - 1u));
  return vec4<u32>(p.offset_b + batch * p.batch_b) + cols * p.col_b;
}
fn matmul_b_inner_wide(start: u32, k: u32) -> vec4<f32> {
  return load4_b((start + k) >> 2u);
}
fn matmul_b_inner(start: u32, k: u32) -> vec4<f32> {
  let inner = matmul_four(k);
  let at = vec4<u32>(start) + min(inner, vec4<u32>(p.k - 1u)) * p.row_b;
  let value = vec4<f32>(load_b(at.x), load_b(at.y), load_b(at.z), load_b(at.w));
  return select(vec4<f32>(), value, inner < vec4<u32>(p.k));
}
fn matmul_b_outer_wide(start: vec4<u32>, k: u32) -> vec4<f32> {
  let value = load4_b((start.x + min(k, p.k - 1u) * p.row_b) >> 2u);
  return select(vec4<f32>(), value, vec4<bool>(k < p.k));
}
fn matmul_b_outer(start: vec4<u32>, k: u32) -> vec4<f32> {
  let at = start + vec4<u32>(min(k, p.k - 1u) * p.row_b);
  let value = vec4<f32>(load_b(at.x), load_b(at.y), load_b(at.z), load_b(at.w));
  return select(vec4<f32>(), value, vec4<bool>(k < p.k));
}

// A row's sums after four more steps: `a` along k, and four columns of `b` for
// each of the steps.
fn matmul_steps(a: vec4<f32>, b: mat4x4<f32>, sums: vec4<f32>) -> vec4<f32> {
  let half = fma(vec4<f32>(a.y), b[1], fma(vec4<f32>(a.x), b[0], sums));
  return fma(vec4<f32>(a.w), b[3], fma(vec4<f32>(a.z), b[2], half));
}

fn matmul_finish(batch: u32, row: u32, col: u32, sum: f32) {
  let at_c = p.offset_c + batch * p.batch_c + row * p.row_c + col * p.col_c;
  let at_o = p.offset_o + batch * p.batch_o + row * p.row_o + col * p.col_o;
  matmul_write(at_o, matmul_activation(p.alpha * sum + matmul_bias(at_c)));
}

// Four columns of a row, as far as they are inside of the matrix.
fn matmul_store(batch: u32, row: u32, col: u32, sums: vec4<f32>) {
  if row >= p.m {
    return;
  }
  for (var j = 0u; j < 4u; j++) {
    if col + j < p.n {
      matmul_finish(batch, row, col + j, sums[j]);
    }
  }
}

// The same where they are a quad of the result (and of the bias).
fn matmul_store_wide(batch: u32, row: u32, col: u32, sums: vec4<f32>) {
  if row < p.m && col < p.n {
    let at_c = p.offset_c + batch * p.batch_c + row * p.row_c + col;
    let at_o = p.offset_o + batch * p.batch_o + row * p.row_o + col;
    let v = p.alpha * sums + matmul_bias4(at_c >> 2u);
    store4_o(at_o >> 2u, vec4<f32>(matmul_activation(v.x), matmul_activation(v.y),
      matmul_activation(v.z), matmul_activation(v.w)));
  }
}

// The sum of what `parts` threads have, `stride` threads apart, for the first
// of them (part 0). All threads of the workgroup call this; the kernel gives
// `var<workgroup> matvec_sums`, a vec4<f32> for each.
fn matvec_fold(sum: vec4<f32>, lane: u32, part: u32, parts: u32, stride: u32) -> vec4<f32> {
  matvec_sums[lane] = sum;
  workgroupBarrier();
  for (var half = parts / 2u; half > 0u; half /= 2u) {
    if part < half {
      matvec_sums[lane] += matvec_sums[lane + half * stride];
    }
    workgroupBarrier();
  }
  return matvec_sums[lane];
}
