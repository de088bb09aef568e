// Zero, or the input scaled, and a mask of what was kept: four elements of each
// block of random bits. All three are dense and begin at quads.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let first = group_index(group, groups) * p.share * {{workgroup}}u + lane;
  for (var round = 0u; round < p.share; round++) {
    let block = first + round * {{workgroup}}u;
    if block < p.blocks {
      let bits = random_block(block, 0u);
      let kept = vec4<u32>(
        select(0u, 1u, is_drawn(bits.x, p.keep)),
        select(0u, 1u, is_drawn(bits.y, p.keep)),
        select(0u, 1u, is_drawn(bits.z, p.keep)),
        select(0u, 1u, is_drawn(bits.w, p.keep)));
      let e = block * 4u;
      if p.count - e >= 4u {
        let scales = vec4<f32>(kept) * p.scale;
        store4_o(p.offset_o / 4u + block,
                 load4_a(p.offset_a / 4u + block) * scales);
        store4_m(p.offset_m / 4u + block, kept);
      } else {
        for (var k = 0u; k < p.count - e; k++) {
          let scale = f32(kept[k]) * p.scale;
          store_o(p.offset_o + e + k, load_a(p.offset_a + e + k) * scale);
          store_m(p.offset_m + e + k, kept[k]);
        }
      }
    }
  }
}
