// The lower or upper triangle of matrices, zero elsewhere; out is dense. A
// thread owns one word of out.

fn value(e: u32) -> T {
  let col = i32(e % p.cols);
  let row = i32((e / p.cols) % p.rows);
  if !({{keep}}) {
    return T();
  }
  return load_a(p.offset_a + at_a(e));
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
