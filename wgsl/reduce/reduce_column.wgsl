// One reduction whose results lie side by side in the input: a thread takes
// four neighbouring ones, or one of p.splits parts of their elements, whose
// accumulators a second kernel then merges.

alias Acc = {{acc}};

fn initial() -> Acc {
  return {{init}};
}

fn merge(acc: Acc, other: Acc) -> Acc {
  return {{merge}};
}

fn step(acc: Acc, x: T, r: u32) -> Acc {
  return {{step}};
}

fn emit(i: u32, acc: Acc) {
  {{emit}}
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let quads = p.outputs >> 2u;
  let item = thread_index(group, groups, lane, 64u);
  if (item >= quads * p.splits) {
    return;
  }
  let split = item / quads;
  let output = 4u * (item - split * quads);
  let end = min((split + 1u) * p.chunk, p.count);
  let base = (p.a_offset + kept_a(output)) >> 2u;
  let run = p.reduced.sizes[0].x;
  let stride = p.reduced_a[0].x >> 2u;
  var r = split * p.chunk;
  // Within a run of the innermost reduced dimension there is only one stride.
  var left = run - r % run;
  var at = base + (reduced_a(r) >> 2u);
  var total_x = initial();
  var total_y = initial();
  var total_z = initial();
  var total_w = initial();
  // In blocks, so that the rounding error of a long sum grows with the number
  // of blocks and not with its length.
  while (r < end) {
    let count = min(end - r, min(32u, left));
    let stop = r + count;
    var x = initial();
    var y = initial();
    var z = initial();
    var w = initial();
    for (; r < stop; r += 1u) {
      let v = load4_a(at);
      at += stride;
      x = step(x, {{x}}, r);
      y = step(y, {{y}}, r);
      z = step(z, {{z}}, r);
      w = step(w, {{w}}, r);
    }
    total_x = merge(total_x, x);
    total_y = merge(total_y, y);
    total_z = merge(total_z, z);
    total_w = merge(total_w, w);
    left -= count;
    if (left == 0u) {
      left = run;
      at = base + (reduced_a(r) >> 2u);
    }
  }
  let i = split * p.outputs + output;
  emit(i, total_x);
  emit(i + 1u, total_y);
  emit(i + 2u, total_z);
  emit(i + 3u, total_w);
}
