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
  let advance = {{workgroup}}u * {{size}}u;
  let begin = group_index(group, groups) * p.share * advance;
  let first = begin + lane * {{size}}u;
  {{begin}}
  // One question for all rounds of a workgroup.
  let whole = begin < p.count && p.count - begin >= p.share * advance;
  for (var round = 0u; round < p.share; round++) {
    let e = first + round * advance;
    if whole || (e < p.count && p.count - e >= {{size}}u) {
{{loads}}
      store_chunk_o({{unit_o}},
{{quads}});
    } else {
      for (var i = e; i < p.count; i++) {
        store_o({{place_o}}, element(i));
      }
    }
{{advance}}
  }
}
