// Copies (or fills) into an output of any strides, one thread per element.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let e = thread_index(group, groups, lane, {{workgroup}}u);
  if e >= p.count {
    return;
  }
  var rest = e;
  var index_a = p.offset_a;
  var index_o = p.offset_o;
  for (var d = 0u; d < p.rank; d++) {
    let size = p.sizes[d >> 2u][d & 3u];
    let at = rest % size;
    rest /= size;
    index_a += at * p.stride_a[d >> 2u][d & 3u];
    index_o += at * p.stride_o[d >> 2u][d & 3u];
  }
  scatter_o(index_o, {{convert}}(load_a(index_a)));
}
