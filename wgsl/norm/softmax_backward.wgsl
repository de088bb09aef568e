// Gradients of softmax and log_softmax from their results y; `threads` threads
// share a row.

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
  let outer = row / p.inner;
  let start = outer * p.count * p.inner + row - outer * p.inner;
  let first = {{first}};

  // In blocks, for the accuracy of long sums.
  var sum = 0.0;
  var j = first;
  while (j < p.count) {
    let stop = j + min(p.count - j, 32u * threads);
    var block = 0.0;
    for (; j < stop; j += threads) {
      let at = start + j * p.inner;
      block += {{term}};
    }
    sum += block;
  }
  sum = {{share}}_sum(sum, lane);

  // Narrow results: rows of whole words only, and a thread writes whole words.
  for (var k = first * lanes_o; k < p.count; k += threads * lanes_o) {
    for (var i = k; i < k + lanes_o; i += 1u) {
      let at = start + i * p.inner;
      let y = load_y(p.y_offset + at);
      let g = load_g(p.g_offset + at);
      store_o(p.o_offset + at, {{result}});
    }
  }
}
