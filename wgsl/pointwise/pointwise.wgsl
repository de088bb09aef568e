// The output is dense and walked in memory order; inputs are dense or strided.
// A thread owns one word of the output.

fn value(e: u32) -> {{result}} {
{{index}}
  let {{it}} = {{convert_{{it}}}}(load_{{it}}(index_{{it}}));
{{scalars}}
  return {{expression}};
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let thread = thread_index(group, groups, lane, {{workgroup}}u);
  let skipped = p.offset_o % lanes_o;
  for (var k = 0u; k < lanes_o; k++) {
    // Wraps to a huge number for the elements before the first.
    let e = thread * lanes_o + k - skipped;
    if e < p.count {
      store_o(p.offset_o + e, value(e));
    }
  }
}
