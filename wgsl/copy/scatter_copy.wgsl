// Copies (or fills) into an output of any strides, one thread per element.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let e = thread_index(group, groups, lane, {{workgroup}}u);
  if e >= p.count {
    return;
  }
  let at = at_all(e);
  scatter_o(p.offset_o + at.o, {{convert}}(load_a(p.offset_a + at.a)));
}
