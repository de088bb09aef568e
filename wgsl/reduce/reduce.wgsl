// One reduction. An item is a part of one output's elements: all of them, or
// one of p.splits parts, whose accumulators a second kernel then merges.
// `threads` threads work on an item together.

const threads = {{threads}}u;

alias Acc = {{acc}};

var<workgroup> accs: array<Acc, {{workgroup}}>;

fn initial() -> Acc {
  return {{init}};
}

fn merge(acc: Acc, other: Acc) -> Acc {
  return {{merge}};
}

fn take(acc: Acc, base: u32, r: u32) -> Acc {
  {{take}}
}

// In blocks, so that the rounding error of a long sum grows with the number of
// blocks and not with its length.
fn accumulate(base: u32, first: u32, end: u32) -> Acc {
  var total = initial();
  var r = first;
  while (r < end) {
    let stop = r + min(end - r, 16u * threads);
    var acc = initial();
    for (; r < stop; r += threads) {
      acc = take(acc, base, r);
    }
    total = merge(total, acc);
  }
  return total;
}

// Leaves the workgroup's result in its first thread.
fn combine(acc: Acc, lane: u32) -> Acc {
  accs[lane] = acc;
  for (var half = threads / 2u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (lane < half) {
      accs[lane] = merge(accs[lane], accs[lane + half]);
    }
  }
  workgroupBarrier();
  return accs[lane];
}

fn emit(i: u32, acc: Acc) {
  {{emit}}
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let items = p.outputs * p.splits;
  // All outputs of a word belong to one worker.
  let first = {{worker}} * lanes_o;
  for (var i = first; i < min(first + lanes_o, items); i += 1u) {
    let split = i / p.outputs;
    let begin = split * p.chunk;
    let end = min(begin + p.chunk, p.count);
    let base = {{base}};
    let mine = accumulate(base, begin + {{first}}, end);
    {{finish}}
  }
}
