// Adds one index's part to the offsets of elements; the first has nothing
// before it.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let e = thread_index(group, groups, lane, {{workgroup}}u);
  if e >= p.count {
    return;
  }
  var rest = e;
  var at_i = p.offset_i;
  for (var d = 0u; d < p.rank; d++) {
    let size = p.sizes[d >> 2u][d & 3u];
    at_i += (rest % size) * p.stride_i[d >> 2u][d & 3u];
    rest /= size;
  }
  let place = {{place}};
  let before = {{before}};
  let outside = place == no_place || before == no_place;
  write_o(e, select(before + place * p.stride, no_place, outside));
}
