// The gradients of scale (w) and shift (b) of whole rows: per channel the sums
// of gradient times normalised element, and of gradient. A thread takes four
// channels in one of p.splits parts of the rows.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let item = thread_index(group, groups, lane, 64u);
  let quads = p.channels >> 2u;
  if (item >= quads * p.splits) {
    return;
  }
  let split = item / quads;
  let c = item - split * quads;
  let end = min((split + 1u) * p.chunk, p.outer);
  var product = vec4<f32>();
  var sum = vec4<f32>();
  var row = split * p.chunk;
  while (row < end) {
    let stop = row + min(end - row, 32u);
    var block_product = vec4<f32>();
    var block_sum = vec4<f32>();
    for (; row < stop; row += 1u) {
      let mean = {{mean}};
      let rstd = load_r(p.r_offset + row);
      let g = load4_g((p.g_offset >> 2u) + row * quads + c);
      let x = load4_a((p.a_offset >> 2u) + row * quads + c);
      block_sum += g;
      block_product += g * ((x - mean) * rstd);
    }
    product += block_product;
    sum += block_sum;
  }
  store4_w(item, product);
  store4_b(item, sum);
}
