// self[..., index[...], ...] = combine(self[...], value[...]), one thread for
// p.inner elements, in order. Several elements may meet in one place.

fn combined(old: T, value: T) -> T {
  return {{combine}};
}

fn write_element(e: u32) {
  let walked = at_all(e);
  let index = p.offset_i + walked.i;
  let place = {{place}};
  if place == no_place || place == p.skip {
    return;
  }
  let at = p.offset_o + walked.o + place * p.stride;
  let from_v = p.offset_v + walked.v;
  {{step}}
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let thread = thread_index(group, groups, lane, {{workgroup}}u);
  if thread >= p.count {
    return;
  }
  for (var k = 0u; k < p.inner; k++) {
    write_element(thread * p.inner + k);
  }
}
