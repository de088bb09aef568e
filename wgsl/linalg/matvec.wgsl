// Matrix times vector: {{rows}} rows of `a` by a workgroup of 64, each row's sum
// made by {{parts}} threads and folded as a tree. `b` is the vector, along its
// rows.

fn matmul_bias(at: u32) -> f32 {
  return {{bias}};
}

fn matmul_write(at: u32, value: f32) {
  {{store}}_o(at, value);
}

var<workgroup> sums: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let tile = group_index(group, groups);
  if tile >= p.tiles {
    return;
  }
  let place = matmul_place(tile);
  // Threads side by side take what lies side by side in memory.
  let part = {{part}};
  let row = place.y * {{rows}}u + {{row}};
  var at_a = p.offset_a + place.z * p.batch_a
    + min(row, p.m - 1u) * p.row_a + part * p.col_a;
  var at_b = p.offset_b + place.z * p.batch_b + part * p.row_b;
  var sum = 0.0;
  for (var start = part; start < p.k; start += 64u * {{parts}}u) {
    var block = 0.0;
    let end = min(start + 64u * {{parts}}u, p.k);
    for (var k = start; k < end; k += {{parts}}u) {
      block = fma(load_a(at_a), load_b(at_b), block);
      at_a += {{parts}}u * p.col_a;
      at_b += {{parts}}u * p.row_b;
    }
    sum += block;
  }
  sums[lane] = sum;
  workgroupBarrier();
  for (var half = {{parts}}u / 2u; half > 0u; half /= 2u) {
    if part < half {
      sums[lane] += sums[lane + half * {{step}}u];
    }
    workgroupBarrier();
  }
  if part == 0u && row < p.m {
    matmul_finish(place.z, row, 0u, sums[lane]);
  }
}
