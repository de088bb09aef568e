// softmax and log_softmax of rows; `threads` threads share a row.

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

  var high = -inf_f32();
  for (var j = first; j < p.count; j += threads) {
    high = max_nan(high, load_a(p.a_offset + start + j * p.inner));
  }
  high = {{share}}_max(high, lane);

  // In blocks, for the accuracy of long sums.
  var sum = 0.0;
  var j = first;
  while (j < p.count) {
    let stop = j + min(p.count - j, 32u * threads);
    var block = 0.0;
    for (; j < stop; j += threads) {
      block += m_exp(load_a(p.a_offset + start + j * p.inner) - high);
    }
    sum += block;
  }
  sum = {{share}}_sum(sum, lane);
  let scale = {{scale}};

  // Narrow results: rows of whole words only, and a thread writes whole words.
  for (var k = first * lanes_o; k < p.count; k += threads * lanes_o) {
    for (var i = k; i < k + lanes_o; i += 1u) {
      let x = load_a(p.a_offset + start + i * p.inner) - high;
      store_o(p.o_offset + start + i * p.inner, {{result}});
    }
  }
}
