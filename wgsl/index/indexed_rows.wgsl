// indexed_read of rows that move whole, in units of 16 bytes: p.count rows of
// p.units, each in p.parts of p.each, and 1 << p.lanes threads for a part. All
// places are counted in units.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let rows = {{workgroup}}u >> p.lanes;
  let item = group_index(group, groups) * rows + (lane >> p.lanes);
  let row = item / p.parts;
  if row >= p.count {
    return;
  }
  let begin = (item - row * p.parts) * p.each;
  let end = min(begin + p.each, p.units);
  let walked = at_all(row);
  let index = p.offset_i + walked.i;
  let place = {{place}};
  let source = p.offset_a + walked.a + place * p.stride;
  let target_row = p.offset_o + row * p.units;
  let step = 1u << p.lanes;
  let first = begin + (lane & (step - 1u));
  if place == no_place {
    for (var unit = first; unit < end; unit += step) {
      store4_o(target_row + unit, vec4<i32>());
    }
    return;
  }
  for (var unit = first; unit < end; unit += step) {
    store4_o(target_row + unit, load4_a(source + unit));
  }
}
