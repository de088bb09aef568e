// Running results along rows. A row has one or more blocks; `threads` threads
// share a block, each with a chunk of it.

const threads = {{threads}}u;

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

// What the chunks before this thread's come to, and `prior` before them.
fn before(prior: Acc, start: u32, begin: u32, end: u32, lane: u32) -> Acc {
  var acc = initial();
  for (var r = begin; r < end; r += 1u) {
    acc = take(acc, start, r);
  }
  accs[lane] = acc;
  workgroupBarrier();
  acc = prior;
  for (var i = 0u; i < lane; i += 1u) {
    acc = merge(acc, accs[i]);
  }
  return acc;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let item = {{item}};
  let row = item / p.blocks;
  if (row >= p.rows) {
    return;
  }
  let block = item - row * p.blocks;
  let outer = row / p.inner;
  let start = outer * p.count * p.inner + row - outer * p.inner;
  let begin = min(block * p.block + {{first}} * p.chunk, p.count);
  let end = min(begin + p.chunk, p.count);
  var prior = initial();
  {{prior}}
  var acc = {{before}};
  for (var r = begin; r < end; r += 1u) {
    acc = take(acc, start, r);
    let at = start + r * p.inner;
    {{emit}}
  }
}
