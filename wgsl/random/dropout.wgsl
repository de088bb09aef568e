// Zero, or the input scaled, and a mask of what was kept: four elements for
// each thread. All three are dense and the outputs begin at words.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let thread = thread_index(group, groups, lane, {{workgroup}}u);
  let bits = random_block(thread, 0u);
  for (var k = 0u; k < 4u; k++) {
    let e = thread * 4u + k;
    if thread < p.threads && e < p.count {
      let kept = is_drawn(bits[k], p.keep);
      let scale = select(0.0, p.scale, kept);
      store_o(p.offset_o + e, load_a(p.offset_a + e) * scale);
      store_m(p.offset_m + e, select(0u, 1u, kept));
    }
  }
}
