// Reductions over a workgroup of 64 threads, for a kernel that declares
// `var<workgroup> group_values: array<f32, 64>`. All threads get the result.
fn group_sum(value: f32, lane: u32) -> f32 {
  group_values[lane] = value;
  for (var half = 32u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (lane < half) {
      group_values[lane] += group_values[lane + half];
    }
  }
  workgroupBarrier();
  let result = group_values[0];
  workgroupBarrier();
  return result;
}
fn group_max(value: f32, lane: u32) -> f32 {
  group_values[lane] = value;
  for (var half = 32u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (lane < half) {
      group_values[lane] = max_nan(group_values[lane], group_values[lane + half]);
    }
  }
  workgroupBarrier();
  let result = group_values[0];
  workgroupBarrier();
  return result;
}

// The same where one thread works alone.
fn own_sum(value: f32, lane: u32) -> f32 {
  return value;
}
fn own_max(value: f32, lane: u32) -> f32 {
  return value;
}
