// Element e is the first row whose running sum of repeats is above e.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let e = thread_index(group, groups, lane, {{workgroup}}u);
  if e >= p.total {
    return;
  }
  var low = 0u;
  var high = p.count;
  while low < high {
    let middle = (low + high) / 2u;
    if read_s(middle) > e {
      high = middle;
    } else {
      low = middle + 1u;
    }
  }
  store_o(e, {{value}});
}
