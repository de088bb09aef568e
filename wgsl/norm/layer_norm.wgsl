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
      let distance = {{distance}};
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

fn scaled(x: V, w: V, b: V) -> V {
  return {{result}};
}

// A workgroup's rows, which share what is read of weight and bias.
const together = {{together}}u;

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = row_of(group, groups, lane) * together;
  if (row >= p.rows) {
    return;
  }
  let first = first_of(lane);
  let units = row_units();
  let last = p.rows - 1u;
  var means: array<vec2<f32>, together>;
  var rstds: array<f32, together>;
  for (var k = 0u; k < together; k++) {
    let at = min(row + k, last);
    let found = moments(start_a(at, lane), first, units, lane);
    let rstd = 1.0 / sqrt(found.square / f32(p.count) + p.eps);
    means[k] = vec2<f32>(found.origin, found.far);
    rstds[k] = rstd;
    if (leads(lane)) {
      {{statistics}}
    }
  }
  let a{{it}} = start_a(min(row + {{it}}u, last), lane);
  let o{{it}} = start_o(min(row + {{it}}u, last), lane);
  let mean{{it}} = means[{{it}}u];
  let rstd{{it}} = rstds[{{it}}u];
  let first_w = {{first_w}};
  let first_b = {{first_b}};
  for (var j = first_put(lane); j < units; j = next_put(j)) {
    let c = {{channel}};
    let w = {{weight}};
    let b = {{bias}};
    let x{{it}} = ((get_a(a{{it}}, j) - mean{{it}}.x) - mean{{it}}.y) * rstd{{it}};
    put_o(o{{it}}, j, scaled(x{{it}}, w, b));
  }
}
