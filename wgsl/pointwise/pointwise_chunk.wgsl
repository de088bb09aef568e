// One expression, a chunk of {{size}} elements at a time. The output and the
// inputs that lie like it are moved in units of 16 bytes; other inputs are one
// element for a chunk, or gathered.

{{value}}

fn element(e: u32) -> {{result}} {
{{places}}
  return value({{elements}});
}

fn value4({{quad_arguments}}) -> {{result4}} {
  return {{result4}}(
    value({{x}}),
    value({{y}}),
    value({{z}}),
    value({{w}}));
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let index = group_index(group, groups);
  for (var u = 0u; u < {{chunks}}u; u++) {
    let e = {{chunk}} * {{size}}u;
    if e < p.count && p.count - e >= {{size}}u {
{{places}}
{{loads}}
      store_chunk_o({{unit_o}},
{{quads}});
    } else {
      for (var i = e; i < p.count; i++) {
        store_o({{place_o}}, element(i));
      }
    }
  }
}
