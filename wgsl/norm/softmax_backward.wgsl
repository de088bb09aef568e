// Gradients of softmax and log_softmax from their results y.

{{rows}}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = row_of(group, groups, lane);
  if (row >= p.rows) {
    return;
  }
  let from_g = start_g(row, lane);
  let from_y = start_y(row, lane);
  let o = start_o(row, lane);
  let first = first_of(lane);
  let units = row_units();

  // In blocks, for the accuracy of long sums.
  var total = V(0.0);
  var j = first;
  while (j < units) {
    let stop = j + min(units - j, 32u * threads);
    var block = V(0.0);
    for (; j < stop; j += threads) {
      block += {{term}};
    }
    total += block;
  }
  let sum = row_sum(total, lane);

  for (var i = first_put(lane); i < units; i = next_put(i)) {
    let y = get_y(from_y, i);
    let g = get_g(from_g, i);
    put_o(o, i, {{result}});
  }
}
