// One expression, a chunk of {{size}} elements at a time. The output and the
// inputs that lie like it are moved in units of 16 bytes; other inputs are one
// element for a chunk, or gathered.

{{value}}

fn element(e: u32) -> {{result}} {
{{places}}
  return value({{elements}});
}

{{value4}}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let advance = {{workgroup}}u * {{size}}u;
  let first =
    group_index(group, groups) * p.share * advance + lane * {{size}}u;
  // Whole chunks of this thread; a part of one may follow them.
  var rounds = 0u;
  if first < p.count && p.count - first >= {{size}}u {
    rounds = min(p.share, (p.count - first - {{size}}u) / advance + 1u);
  }
  // What the parameters say is read once, not in every round.
{{begin}}
  for (var n = 0u; n < rounds * {{workgroup}}u; n += {{workgroup}}u) {
{{loads}}
    store_chunk_o({{unit_o}},
{{quads}});
{{advance}}
  }
  if rounds < p.share {
    for (var i = first + rounds * advance; i < p.count; i++) {
      store_o({{place_o}}, element(i));
    }
  }
}
