// The places of the elements that are not zero, in order; `s` says how many
// there are up to the end of each chunk.

fn write_place(e: u32, at: u32) {
  {{write}}
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let chunk = thread_index(group, groups, lane, {{workgroup}}u);
  if chunk >= p.chunks {
    return;
  }
  var at = 0u;
  if chunk > 0u {
    at = read_s(chunk - 1u);
  }
  let end = min((chunk + 1u) * {{chunk}}u, p.count);
  for (var e = chunk * {{chunk}}u; e < end; e++) {
    if t_to_bool(load_a(p.offset_a + e)) {
      write_place(e, at);
      at++;
    }
  }
}
