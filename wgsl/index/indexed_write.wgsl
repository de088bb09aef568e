// self[..., index[...], ...] = combine(self[...], value[...]), one thread for
// p.inner elements, in order. Several elements may meet in one place.

fn combined(old: T, value: T) -> T {
  return {{combine}};
}

fn write_element(e: u32) {
  var rest = e;
  var at_o = p.offset_o;
  var at_v = p.offset_v;
  var at_i = p.offset_i;
  for (var d = 0u; d < p.rank; d++) {
    let size = p.sizes[d >> 2u][d & 3u];
    let at = rest % size;
    rest /= size;
    at_o += at * p.stride_o[d >> 2u][d & 3u];
    at_v += at * p.stride_v[d >> 2u][d & 3u];
    at_i += at * p.stride_i[d >> 2u][d & 3u];
  }
  let place = {{place}};
  if place == no_place || place == p.skip {
    return;
  }
  let at = at_o + place * p.stride;
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
