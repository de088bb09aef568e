// out[e] = value(e), four elements at a time; out is dense. The quads are those
// of memory: the first one may begin before the first element.

{{value}}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let first = group_index(group, groups) * p.share * {{workgroup}}u + lane;
  // What the parameters say is read once, not in every round.
  let count = p.count;
  let origin = p.offset_o / 4u;
  let early = p.offset_o % 4u;
  let rounds = p.share;
  for (var round = 0u; round < rounds; round++) {
    let quad = first + round * {{workgroup}}u;
    // Wraps to a huge number before the first element.
    let e = quad * 4u - early;
    if e < count && count - e >= 4u {
      store4_o(origin + quad, {{quad}}(
        value(e), value(e + 1u), value(e + 2u), value(e + 3u)));
    } else {
      for (var k = 0u; k < 4u; k++) {
        if e + k < count {
          store_o(origin * 4u + early + e + k, value(e + k));
        }
      }
    }
  }
}
