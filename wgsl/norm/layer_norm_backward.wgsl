// The gradient of a normalised row with respect to its elements.

{{rows}}

// The gradient of the normalised unit j, before scale and shift, from that of
// the result.
fn before_scale(row: u32, lane: u32, j: u32, first_w: u32, g: V) -> V {
  let c = {{channel}};
  return {{gradient}};
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = row_of(group, groups, lane);
  if (row >= p.rows) {
    return;
  }
  let a = start_a(row, lane);
  let from_g = start_g(row, lane);
  let o = start_o(row, lane);
  let first = first_of(lane);
  let units = row_units();
  let mean = {{mean}};
  let rstd = load_r(p.r_offset + row);
  let first_w = {{first_w}};

  // In blocks, for the accuracy of long rows.
  var sum = V(0.0);
  var product = V(0.0);
  var j = first;
  while (j < units) {
    let stop = j + min(units - j, 32u * threads);
    var block_sum = V(0.0);
    var block_product = V(0.0);
    for (; j < stop; j += threads) {
      let g = before_scale(row, lane, j, first_w, take_g(from_g, j));
      block_sum += g;
      block_product += g * ((take_a(a, j) - mean) * rstd);
    }
    sum += block_sum;
    product += block_product;
  }
  let shift = {{shift}};
  let slope = row_sum(product, lane) / f32(p.count);

  for (var i = first_put(lane); i < units; i = next_put(i)) {
    let x = (get_a(a, i) - mean) * rstd;
    let g = before_scale(row, lane, i, first_w, get_g(from_g, i));
    put_o(o, i, rstd * (g - shift - x * slope));
  }
}
