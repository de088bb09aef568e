// One expression, element by element: for operands that cannot be moved in
// chunks, and for expressions that cost more than the memory. A thread writes
// whole words of the output, which is dense.

{{value}}

fn element(e: u32) -> {{result}} {
{{places}}
  return value({{elements}});
}

// The word that begins with element e, or the part of it that is inside.
fn store_word(e: u32) {
  {{store}}
  for (var i = e; i != e + lanes_o; i++) {
    // Wraps to a huge number for the elements before the first.
    if i < p.count {
      store_o(p.offset_o + i, element(i));
    }
  }
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let index = group_index(group, groups);
  for (var round = 0u; round < p.share; round++) {
    let word = (index * p.share + round) * {{workgroup}}u + lane;
    store_word(word * lanes_o - p.offset_o % lanes_o);
  }
}
