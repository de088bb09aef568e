// Random numbers, four from each block of random bits (two for integers). The
// output is dense and begins at a quad.

fn value(x: {{type}}, more: u32, e: u32) -> T {
  return {{value}};
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let first = group_index(group, groups) * p.share * {{workgroup}}u + lane;
  for (var round = 0u; round < p.share; round++) {
    let block = first + round * {{workgroup}}u;
    if block < p.blocks {
      let bits = random_block(block, 0u);
      let more = {{more}};
      let drawn = {{drawn}};
      let e = block * 4u;
      if p.count - e >= 4u {
        store4_o(p.offset_o / 4u + block, {{quad}}(
          value(drawn.x, more.x, e),
          value(drawn.y, more.y, e + 1u),
          value(drawn.z, more.z, e + 2u),
          value(drawn.w, more.w, e + 3u)));
      } else {
        for (var k = 0u; k < p.count - e; k++) {
          store_o(p.offset_o + e + k, value(drawn[k], more[k], e + k));
        }
      }
    }
  }
}
