// o[sample, class] = -weight * g[sample] at the target's class, else zero. A
// thread owns one word of the output; one gradient may serve all samples.

fn value(e: u32) -> f32 {
  let row = e / p.inner;
  let class_index = row % p.bound;
  let sample = row / p.bound * p.inner + e % p.inner;
  let target_class = load_t(p.offset_t + sample);
  let hit = i64_eq(target_class, i64_from_u32(class_index)) &&
            i64_ne(target_class, p.ignore);
  if !hit {
    return 0.0;
  }
  return -({{weight}}) * load_g(p.offset_g + sample * p.stride_g);
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let thread = thread_index(group, groups, lane, {{workgroup}}u);
  for (var k = 0u; k < lanes_o; k++) {
    let e = thread * lanes_o + k;
    if e < p.count {
      store_o(e, value(e));
    }
  }
}
