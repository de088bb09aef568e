// The totals of the blocks of long rows, for the kernels that then go through
// the blocks; a workgroup per block.

{{accumulator}}

var<workgroup> accs: array<Acc, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let item = group_index(group, groups);
  let row = item / p.blocks;
  if (row >= p.rows) {
    return;
  }
  let begin = min((item - row * p.blocks) * p.block + lane * p.chunk, p.count);
  let end = min(begin + p.chunk, p.count);
  var acc = total(start_of(row), begin, end);
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
