// The loss of each sample, -weight * a[sample, target], and its weight: both
// zero where the target is the one to ignore. `a` is [outer, p.bound, inner].

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let sample = thread_index(group, groups, lane, {{workgroup}}u);
  if sample >= p.count {
    return;
  }
  var loss = 0.0;
  var weight = 0.0;
  let target_class = load_t(p.offset_t + sample);
  if i64_ne(target_class, p.ignore) {
    let class_index = place_of_i64(target_class);
    if class_index != no_place {
      let outer = sample / p.inner;
      let at = (outer * p.bound + class_index) * p.inner + sample % p.inner;
      weight = {{weight}};
      loss = -weight * load_a(p.offset_a + at);
    }
  }
  store_l(sample, loss);
  store_u(sample, weight);
}
