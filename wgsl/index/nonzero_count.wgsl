// How many elements of each chunk are not zero.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let chunk = thread_index(group, groups, lane, {{workgroup}}u);
  if chunk >= p.chunks {
    return;
  }
  let end = min((chunk + 1u) * {{chunk}}u, p.count);
  var count = 0u;
  for (var e = chunk * {{chunk}}u; e < end; e++) {
    count += select(0u, 1u, t_to_bool(load_a(p.offset_a + e)));
  }
  write_o(chunk, count);
}
