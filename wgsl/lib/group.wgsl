// Reductions over a workgroup, for a kernel that declares `const threads` and
// `var<workgroup> group_values: array<f32, threads>`. All threads get the
// result.
fn group_sum(value: f32, lane: u32) -> f32 {
  group_values[lane] = value;
  for (var half = threads / 2u; half > 0u; half >>= 1u) {
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
  for (var half = threads / 2u; half > 0u; half >>= 1u) {
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

// The same where a subgroup works together.
fn subgroup_sum(value: f32, lane: u32) -> f32 {
  return subgroupAdd(value);
}
fn subgroup_max(value: f32, lane: u32) -> f32 {
  return select(subgroupMax(value), nan_f32(), subgroupAny(is_nan(value)));
}
