// Rows brought to mean 0 and variance 1 (or to a mean square of 1), then
// scaled and shifted. Leaves the rows' means and reciprocal deviations for the
// backward kernels.

{{rows}}

// A row's mean, as the distance `far` from a number `origin` near it, and the
// sum of the squared distances from the mean.
struct RowMoments {
  origin: f32,
  far: f32,
  square: f32,
}

// The sums of a thread's distances from origin + far, a sum that float32 may
// not have the digits for, and of their squares; in blocks, for the accuracy
// of long rows.
struct Distances {
  sum: V,
  square: V,
}

fn distances_of(a: u32, first: u32, end: u32, origin: f32,
                far: f32) -> Distances {
  var result = Distances(V(0.0), V(0.0));
  var j = first;
  while (j < end) {
    let stop = j + min(end - j, 32u * threads);
    var sum = V(0.0);
    var square = V(0.0);
    for (; j < stop; j += threads) {
      let distance = (take_a(a, j) - origin) - far;
      sum += distance;
      square += distance * distance;
    }
    result.sum += sum;
    result.square += square;
  }
  return result;
}

fn moments(a: u32, first: u32, units: u32, lane: u32) -> RowMoments {
  {{moments}}
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = row_of(group, groups, lane);
  if (row >= p.rows) {
    return;
  }
  let a = start_a(row, lane);
  let o = start_o(row, lane);
  let first = first_of(lane);
  let units = row_units();
  let found = moments(a, first, units, lane);
  let mean = found.origin + found.far;
  let rstd = 1.0 / sqrt(found.square / f32(p.count) + p.eps);

  for (var j = first_put(lane); j < units; j = next_put(j)) {
    let c = {{channel}};
    let x = ((get_a(a, j) - found.origin) - found.far) * rstd;
    put_o(o, j, {{result}});
  }
  if (leads(lane)) {
    {{statistics}}
  }
}
