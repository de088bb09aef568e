// The result of a product whose sum was made in parts: `b` holds a matrix of
// p.k rows for each of them. A thread adds four columns of a row, in the parts'
// order.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let tile = thread_index(group, groups, lane, {{workgroup}}u);
  if tile >= p.tiles {
    return;
  }
  let place = matmul_place(tile);
  let col = place.x * 4u;
  var sums = vec4<f32>();
  for (var part = 0u; part < p.parts; part++) {
    let start = matmul_b_start(place.z * p.parts + part, col);
    sums += matmul_b_outer{{wide_b}}(start, place.y);
  }
  matmul_store{{wide_o}}(place.z, place.y, col, sums);
}
