// The totals of the blocks of long rows, for wgsl/scan.wgsl; a workgroup per
// block.

alias Acc = {{acc}};

var<workgroup> accs: array<Acc, 64>;

fn initial() -> Acc {
  return {{init}};
}

fn merge(acc: Acc, other: Acc) -> Acc {
  return {{merge}};
}

fn take(acc: Acc, start: u32, r: u32) -> Acc {
  let x = {{load}};
  return {{step}};
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let item = group_index(group, groups);
  let row = item / p.blocks;
  if (row >= p.rows) {
    return;
  }
  let outer = row / p.inner;
  let start = outer * p.count * p.inner + row - outer * p.inner;
  let block = item - row * p.blocks;
  let begin = min(block * p.block + lane * p.chunk, p.count);
  let end = min(begin + p.chunk, p.count);
  var acc = initial();
  for (var r = begin; r < end; r += 1u) {
    acc = take(acc, start, r);
  }
  accs[lane] = acc;
  workgroupBarrier();
  if (lane == 0u) {
    for (var i = 1u; i < 64u; i += 1u) {
      acc = merge(acc, accs[i]);
    }
    let words = {{words}}_words(acc);
    write_t(4u * item, words.x);
    write_t(4u * item + 1u, words.y);
    write_t(4u * item + 2u, words.z);
    write_t(4u * item + 3u, words.w);
  }
}
