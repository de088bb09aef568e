// One reduction of elements that lie in fours. An item is a part of one
// output's elements: all of them, or one of p.splits parts, whose accumulators
// a second kernel then merges. `threads` threads work on an item together.

const threads = {{threads}}u;

alias Acc = {{acc}};

var<workgroup> accs: array<Acc, {{workgroup}}>;

fn initial() -> Acc {
  return {{init}};
}

fn merge(acc: Acc, other: Acc) -> Acc {
  return {{merge}};
}

fn step(acc: Acc, x: T, r: u32) -> Acc {
  return {{step}};
}

// In blocks, so that the rounding error of a long sum grows with the number of
// blocks and not with its length.
fn accumulate(base: u32, first: u32, end: u32) -> Acc {
  var total = initial();
  var q = first;
  {{begin}}
  while (q < end) {
    let count = min(end - q, {{block}});
    let stop = q + count;
    var x = initial();
    var y = initial();
    var z = initial();
    var w = initial();
    for (; q < stop; q += threads) {
      let v = load4_a(origin + {{place}});
      let r = 4u * q;
      x = step(x, {{x}}, r);
      y = step(y, {{y}}, r + 1u);
      z = step(z, {{z}}, r + 2u);
      w = step(w, {{w}}, r + 3u);
    }
    total = merge(total, merge(merge(x, y), merge(z, w)));
    {{next}}
  }
  return total;
}

// The elements after the last whole quad.
fn accumulate_rest(acc: Acc, base: u32) -> Acc {
  var total = acc;
  for (var r = p.count & 0xfffffffcu; r < p.count; r += 1u) {
    total = step(total, {{single}}, r);
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
    let begin = split * (p.chunk >> 2u);
    let end = min(begin + (p.chunk >> 2u), p.count >> 2u);
    let base = (p.a_offset + kept_a(i - split * p.outputs)) >> 2u;
    var mine = accumulate(base, begin + {{first}}, end);
    if (split + 1u == p.splits && {{first}} == 0u) {
      mine = accumulate_rest(mine, base);
    }
    {{finish}}
  }
}
