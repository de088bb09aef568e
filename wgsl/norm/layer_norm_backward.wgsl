// The gradient of a normalised row with respect to its elements; `threads`
// threads share a row.

const threads = {{threads}}u;

var<workgroup> group_values: array<f32, threads>;

// The gradient of the normalised element j, before scale and shift.
fn gradient(row: u32, j: u32) -> f32 {
  let c = {{channel}};
  return {{gradient}};
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = {{row}};
  if (row >= p.rows) {
    return;
  }
  let start = p.a_offset + row * p.count;
  let first = {{first}};
  let mean = {{mean}};
  let rstd = load_r(p.r_offset + row);

  // In blocks, for the accuracy of long rows.
  var sum = 0.0;
  var product = 0.0;
  var j = first;
  while (j < p.count) {
    let stop = j + min(p.count - j, 32u * threads);
    var block_sum = 0.0;
    var block_product = 0.0;
    for (; j < stop; j += threads) {
      let g = gradient(row, j);
      block_sum += g;
      block_product += g * ((load_a(start + j) - mean) * rstd);
    }
    sum += block_sum;
    product += block_product;
  }
  let shift = {{shift}};
  let slope = {{share}}_sum(product, lane) / f32(p.count);

  // Narrow results: rows of whole words only, and a thread writes whole words.
  for (var k = first * lanes_o; k < p.count; k += threads * lanes_o) {
    for (var i = k; i < k + lanes_o; i += 1u) {
      let x = (load_a(start + i) - mean) * rstd;
      let g = gradient(row, i);
      store_o(p.o_offset + row * p.count + i, rstd * (g - shift - x * slope));
    }
  }
}
