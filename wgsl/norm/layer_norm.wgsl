// Rows brought to mean 0 and variance 1 (or to a mean square of 1), then
// scaled and shifted; `threads` threads share a row. Leaves the rows' means and
// reciprocal deviations for the backward kernels.

const threads = {{threads}}u;

var<workgroup> group_values: array<f32, threads>;

// Sums are in blocks, for the accuracy of long rows.
fn sum_of(start: u32, first: u32) -> f32 {
  var sum = 0.0;
  var j = first;
  while (j < p.count) {
    let stop = j + min(p.count - j, 32u * threads);
    var block = 0.0;
    for (; j < stop; j += threads) {
      block += load_a(start + j);
    }
    sum += block;
  }
  return sum;
}

fn square_of(start: u32, first: u32, mean: f32) -> f32 {
  var sum = 0.0;
  var j = first;
  while (j < p.count) {
    let stop = j + min(p.count - j, 32u * threads);
    var block = 0.0;
    for (; j < stop; j += threads) {
      let distance = load_a(start + j) - mean;
      block += distance * distance;
    }
    sum += block;
  }
  return sum;
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
  let square = {{share}}_sum(square_of(start, first, mean), lane);
  let rstd = 1.0 / sqrt(square / f32(p.count) + p.eps);

  // Narrow results: rows of whole words only, and a thread writes whole words.
  for (var k = first * lanes_o; k < p.count; k += threads * lanes_o) {
    for (var j = k; j < k + lanes_o; j += 1u) {
      let c = {{channel}};
      let x = (load_a(start + j) - mean) * rstd;
      store_o(p.o_offset + row * p.count + j, {{result}});
    }
  }
  if (first == 0u) {
    {{statistics}}
  }
}
