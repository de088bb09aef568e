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
  let index = p.offset_i + at_i(e);
  let place = {{place}};
  let before = {{before}};
  let outside = place == no_place || before == no_place;
  write_o(e, select(before + place * p.stride, no_place, outside));
}
