// The result of a product whose sum was made in parts: `a` holds a matrix for
// each of them, added in order.

fn matmul_bias(at: u32) -> f32 {
  return {{bias}};
}

fn matmul_write(at: u32, value: f32) {
  {{store}}_o(at, value);
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let tile = thread_index(group, groups, lane, {{workgroup}}u);
  if tile >= p.tiles {
    return;
  }
  let place = matmul_place(tile);
  var sum = 0.0;
  for (var part = 0u; part < p.k; part++) {
    sum += load_a(p.offset_a + part * p.batch_a + place.y * p.row_a + place.x);
  }
  matmul_finish(0u, place.y, place.x, sum);
}
