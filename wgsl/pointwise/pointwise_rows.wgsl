// One expression over rows, of which some inputs have the same one or one
// element for each: a thread takes a chunk of {{size}} elements of a row and
// goes down from there, so that what stays the same is read once.

{{value}}

{{value4}}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let chunks = p.at.sizes[0].x / {{size}}u;
  let thread = thread_index(group, groups, lane, {{workgroup}}u);
  let block = thread / chunks;
  let row = block * p.share;
  let column = (thread - block * chunks) * {{size}}u;
  var rounds = 0u;
  if row < p.at.sizes[0].y {
    rounds = min(p.share, p.at.sizes[0].y - row);
  }
{{begin}}
  for (var n = 0u; n < rounds; n++) {
{{loads}}
    store_chunk_o(at_o,
{{quads}});
{{advance}}
  }
}
