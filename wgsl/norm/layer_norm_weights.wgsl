// The gradients of scale (w) and shift (b): per channel the sums of gradient
// times normalised element, and of gradient, over a tensor
// [outer, channels, spatial]. A thread takes one channel in one of p.splits
// parts of the outer dimension.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let item = thread_index(group, groups, lane, 64u);
  if (item >= p.channels * p.splits) {
    return;
  }
  let split = item / p.channels;
  let c = item - split * p.channels;
  let begin = split * p.chunk;
  let end = min(begin + p.chunk, p.outer);
  var product = 0.0;
  var sum = 0.0;
  for (var n = begin; n < end; n += 1u) {
    let row = {{statistics}};
    let mean = {{mean}};
    let rstd = load_r(p.r_offset + row);
    let start = (n * p.channels + c) * p.spatial;
    var s = 0u;
    while (s < p.spatial) {
      let stop = s + min(p.spatial - s, 32u);
      var block_product = 0.0;
      var block_sum = 0.0;
      for (; s < stop; s += 1u) {
        let g = load_g(p.g_offset + start + s);
        block_sum += g;
        block_product += g * ((load_a(p.a_offset + start + s) - mean) * rstd);
      }
      product += block_product;
      sum += block_sum;
    }
  }
  store_w(item, product);
  store_b(item, sum);
}
