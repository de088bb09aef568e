// Samples with replacement, four for each thread: the first category whose
// cumulative weight `a` is above a random part of its row's total. A category
// of no weight is never the first.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let thread = thread_index(group, groups, lane, {{workgroup}}u);
  let bits = random_block(thread, 0u);
  for (var k = 0u; k < 4u; k++) {
    let e = thread * 4u + k;
    if thread < p.threads && e < p.count {
      let row = (e / p.samples) * p.categories;
      let total = load_a(row + p.categories - 1u);
      let below = bitcast<f32>(bitcast<u32>(total) - 1u);
      let part = min(uniform_of(bits[k]) * total, below);
      var low = 0u;
      var high = p.categories - 1u;
      while low < high {
        let middle = low + (high - low) / 2u;
        if load_a(row + middle) > part {
          high = middle;
        } else {
          low = middle + 1u;
        }
      }
      store_o(e, u32_to_i64(low));
    }
  }
}
