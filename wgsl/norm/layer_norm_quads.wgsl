// Rows brought to mean 0 and variance 1 (or to a mean square of 1), then
// scaled and shifted; `threads` threads share a row. Leaves the rows' means and
// reciprocal deviations for the backward kernels. In quads.

const threads = {{threads}}u;

var<workgroup> group_values: array<f32, threads>;

// Sums are in blocks, for the accuracy of long rows.
fn sum_of(start: u32, first: u32) -> f32 {
  let quads = p.count >> 2u;
  var sum = vec4<f32>();
  var q = first;
  while (q < quads) {
    let stop = q + min(quads - q, 32u * threads);
    var block = vec4<f32>();
    for (; q < stop; q += threads) {
      block += load4_a(start + q);
    }
    sum += block;
  }
  return (sum.x + sum.y) + (sum.z + sum.w);
}

fn square_of(start: u32, first: u32, mean: f32) -> f32 {
  return distances_of(start, first, mean).y;
}

// The sums of the distances from `origin`, and of their squares.
fn distances_of(start: u32, first: u32, origin: f32) -> vec2<f32> {
  let quads = p.count >> 2u;
  var sum = vec4<f32>();
  var square = vec4<f32>();
  var q = first;
  while (q < quads) {
    let stop = q + min(quads - q, 32u * threads);
    var block = vec4<f32>();
    var block_square = vec4<f32>();
    for (; q < stop; q += threads) {
      let distance = load4_a(start + q) - origin;
      block += distance;
      block_square += distance * distance;
    }
    sum += block;
    square += block_square;
  }
  return vec2<f32>((sum.x + sum.y) + (sum.z + sum.w),
                   (square.x + square.y) + (square.z + square.w));
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
  {{moments}}
  let rstd = 1.0 / sqrt(square / f32(p.count) + p.eps);

  for (var q = first; q < quads; q += threads) {
    let c = {{channel}};
    let x = (load4_a(start + q) - mean) * rstd;
    store4_o(to + q, {{result}});
  }
  if (first == 0u) {
    {{statistics}}
  }
}
