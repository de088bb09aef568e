// indexed_read where rows of 16-byte units move whole: all places are counted
// in these, and p.count is of units.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let first = group_index(group, groups) * p.share * {{workgroup}}u + lane;
  for (var round = 0u; round < p.share; round++) {
    let e = first + round * {{workgroup}}u;
    if e < p.count {
      let walked = at_all(e);
      let index = p.offset_i + walked.i;
      let place = {{place}};
      var value = vec4<i32>();
      if place != no_place {
        value = load4_a(p.offset_a + walked.a + place * p.stride);
      }
      store4_o(p.offset_o + e, value);
    }
  }
}
