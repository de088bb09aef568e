// What the matrix products share: their parameters, and matmul_bias and
// matmul_write, which the kernel declares.

// The tile's column, row and batch.
fn matmul_place(tile: u32) -> vec3<u32> {
  let rest = tile / p.tiles_n;
  return vec3<u32>(tile % p.tiles_n, rest % p.tiles_m, rest / p.tiles_m);
}

fn matmul_finish(batch: u32, row: u32, col: u32, sum: f32) {
  let at_c = p.offset_c + batch * p.batch_c + row * p.row_c + col * p.col_c;
  let at_o = p.offset_o + batch * p.batch_o + row * p.row_o + col * p.col_o;
  matmul_write(at_o, p.alpha * sum + matmul_bias(at_c));
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
