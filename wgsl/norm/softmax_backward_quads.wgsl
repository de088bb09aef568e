// Gradients of softmax and log_softmax from their results y, of dense rows in
// quads; `threads` threads share a row.

const threads = {{threads}}u;

var<workgroup> group_values: array<f32, threads>;

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = {{row}};
  if (row >= p.rows) {
    return;
  }
  let quads = p.count >> 2u;
  let first = {{first}};
  let from_g = (p.g_offset >> 2u) + row * quads;
  let from_y = (p.y_offset >> 2u) + row * quads;
  let to = (p.o_offset >> 2u) + row * quads;

  // In blocks, for the accuracy of long sums.
  var total = vec4<f32>();
  var q = first;
  while (q < quads) {
    let stop = q + min(quads - q, 32u * threads);
    var block = vec4<f32>();
    for (; q < stop; q += threads) {
      block += {{term}};
    }
    total += block;
  }
  let sum = {{share}}_sum((total.x + total.y) + (total.z + total.w), lane);

  for (var i = first; i < quads; i += threads) {
    let y = load4_y(from_y + i);
    let g = load4_g(from_g + i);
    store4_o(to + i, {{result}});
  }
}
