// Random numbers, four for each thread from one block of random bits (two for
// integers). The output is dense and begins at a word.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let thread = thread_index(group, groups, lane, {{workgroup}}u);
  let bits = random_block(thread, 0u);
  let more = {{more}};
  let drawn = {{drawn}};
  for (var k = 0u; k < 4u; k++) {
    let e = thread * 4u + k;
    if thread < p.threads && e < p.count {
      let x = drawn[k];
      store_o(p.offset_o + e, {{value}});
    }
  }
}
