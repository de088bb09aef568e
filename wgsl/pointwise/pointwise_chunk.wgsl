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
  let first = ({{first}}) * {{size}}u;
  let last = first + {{step}}u * {{size}}u * {{before}}u;
  // One question for all chunks of a thread.
  if last < p.count && p.count - last >= {{size}}u {
    {{run_places}}
    for (var u = 0u; u < {{chunks}}u; u++) {
      let e = first + u * {{step}}u * {{size}}u;
      {{chunk_places}}
{{loads}}
      store_chunk_o({{unit_o}},
{{quads}});
    }
  } else {
    for (var u = 0u; u < {{chunks}}u; u++) {
      let e = first + u * {{step}}u * {{size}}u;
      for (var i = e; i < min(e + {{size}}u, p.count); i++) {
        store_o({{place_o}}, element(i));
      }
    }
  }
}
