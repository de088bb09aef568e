// Running results along rows. A row has one or more blocks; `threads` threads
// share a block, each with a chunk of it.

{{accumulator}}

const threads = {{threads}}u;

var<workgroup> accs: array<Acc, 64>;

// What the chunks before this thread's come to, and `prior` before them.
fn before(prior: Acc, start: u32, begin: u32, end: u32, lane: u32) -> Acc {
  accs[lane] = total(start, begin, end);
  workgroupBarrier();
  var acc = prior;
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
  let begin = min((item - row * p.blocks) * p.block + {{first}} * p.chunk,
                  p.count);
  let end = min(begin + p.chunk, p.count);
  let start = start_of(row);
  {{prior}}
  var acc = {{before}};
  for (var r = begin; r < end; r += width) {
    let at = start + r * p.inner;
    {{take}}
    {{emit}}
  }
}
