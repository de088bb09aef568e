// The gradient of a normalised row with respect to its elements; `threads`
// threads share a row. In quads.

const threads = {{threads}}u;

var<workgroup> group_values: array<f32, threads>;

// The gradient of the normalised quad q, before scale and shift.
fn gradient(row: u32, q: u32) -> vec4<f32> {
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
  let quads = p.count >> 2u;
  let start = (p.a_offset >> 2u) + row * quads;
  let to = (p.o_offset >> 2u) + row * quads;
  let first = {{first}};
  let mean = {{mean}};
  let rstd = load_r(p.r_offset + row);

  // In blocks, for the accuracy of long rows.
  var sums = vec4<f32>();
  var products = vec4<f32>();
  var q = first;
  while (q < quads) {
    let stop = q + min(quads - q, 32u * threads);
    var block_sum = vec4<f32>();
    var block_product = vec4<f32>();
    for (; q < stop; q += threads) {
      let g = gradient(row, q);
      block_sum += g;
      block_product += g * ((load4_a(start + q) - mean) * rstd);
    }
    sums += block_sum;
    products += block_product;
  }
  let sum = (sums.x + sums.y) + (sums.z + sums.w);
  let product = (products.x + products.y) + (products.z + products.w);
  let shift = {{shift}};
  let slope = {{share}}_sum(product, lane) / f32(p.count);

  for (var i = first; i < quads; i += threads) {
    let x = (load4_a(start + i) - mean) * rstd;
    let g = gradient(row, i);
    store4_o(to + i, rstd * (g - shift - x * slope));
  }
}
