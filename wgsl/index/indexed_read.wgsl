// out[...] = self[..., index[...], ...]; out is dense. A thread owns one word
// of out.

fn value(e: u32) -> T {
  let walked = at_all(e);
  let index = p.offset_i + walked.i;
  let place = {{place}};
  if place == no_place {
    return T();
  }
  return load_a(p.offset_a + walked.a + place * p.stride);
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let first = group_index(group, groups) * p.share * {{workgroup}}u + lane;
  let skipped = p.offset_o % lanes_o;
  for (var round = 0u; round < p.share; round++) {
    let word = first + round * {{workgroup}}u;
    for (var k = 0u; k < lanes_o; k++) {
      // Wraps to a huge number for the elements before the first.
      let e = word * lanes_o + k - skipped;
      if e < p.count {
        store_o(p.offset_o + e, value(e));
      }
    }
  }
}
