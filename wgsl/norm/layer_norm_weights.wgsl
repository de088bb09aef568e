// The gradients of scale (w) and shift (b): per channel the sums of gradient
// times normalised element, and of gradient, over a tensor
// [outer, channels, spatial]. A thread takes one channel, or four where
// spatial is 1, in one of p.splits parts of the outer dimension.

{{unit}}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let item = thread_index(group, groups, lane, 64u);
  let channels = p.channels / width;
  if (item >= channels * p.splits) {
    return;
  }
  let split = item / channels;
  let c = item - split * channels;
  let end = min((split + 1u) * p.chunk, p.outer);
  let spatial = {{spatial}};
  var product = V(0.0);
  var sum = V(0.0);
  var n = split * p.chunk;
  // Two levels of blocks, for the accuracy of long sums.
  while (n < end) {
    let last = n + min(end - n, 32u);
    var rows_product = V(0.0);
    var rows_sum = V(0.0);
    for (; n < last; n += 1u) {
      let row = {{statistics}};
      let mean = {{mean}};
      let rstd = load_r(p.r_offset + row);
      let start = (n * channels + c) * spatial;
      var s = 0u;
      while (s < spatial) {
        let stop = s + min(spatial - s, 32u);
        var block_product = V(0.0);
        var block_sum = V(0.0);
        for (; s < stop; s += 1u) {
          let g = {{load}}_g(p.g_offset / width + start + s);
          let x = {{load}}_a(p.a_offset / width + start + s);
          block_sum += g;
          block_product += g * ((x - mean) * rstd);
        }
        rows_product += block_product;
        rows_sum += block_sum;
      }
    }
    product += rows_product;
    sum += rows_sum;
  }
  {{store}}_w(item, product);
  {{store}}_b(item, sum);
}
