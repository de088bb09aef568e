// Running results along rows, for adapters that want neighbouring threads at
// neighbouring elements. A row has one or more blocks; a workgroup goes through
// a block tile by tile, a unit for each thread.

{{accumulator}}

const threads = {{threads}}u;

var<workgroup> accs: array<Acc, threads>;

// What the threads up to this one have, in order.
fn up_to(mine: Acc, lane: u32) -> Acc {
  var acc = mine;
  accs[lane] = acc;
  for (var step = 1u; step < threads; step <<= 1u) {
    workgroupBarrier();
    if (lane >= step) {
      acc = merge(accs[lane - step], acc);
    }
    workgroupBarrier();
    accs[lane] = acc;
  }
  workgroupBarrier();
  return acc;
}

@compute @workgroup_size({{threads}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let item = group_index(group, groups);
  let row = item / p.blocks;
  if (row >= p.rows) {
    return;
  }
  let begin = min((item - row * p.blocks) * p.block, p.count);
  let end = min(begin + p.block, p.count);
  let start = start_of(row);
  {{prior}}
  var done = prior;
  for (var tile = begin; tile < end; tile += threads * width) {
    let r = tile + lane * width;
    let at = start + r * p.inner;
    _ = up_to(total(start, r, min(r + width, end)), lane);
    var acc = done;
    if (lane > 0u) {
      acc = merge(acc, accs[lane - 1u]);
    }
    done = merge(done, accs[threads - 1u]);
    workgroupBarrier();
    if (r < end) {
      {{take}}
      {{emit}}
    }
  }
}
