// Integer matrix product, exact modulo the type's range; one thread for each
// element.

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let tile = thread_index(group, groups, lane, {{workgroup}}u);
  if tile >= p.tiles {
    return;
  }
  let place = matmul_place(tile);
  var at_a = p.offset_a + place.z * p.batch_a + place.y * p.row_a;
  var at_b = p.offset_b + place.z * p.batch_b + place.x * p.col_b;
  let at_c = p.offset_c + place.z * p.batch_c + place.y * p.row_c
    + place.x * p.col_c;
  let at_o = p.offset_o + place.z * p.batch_o + place.y * p.row_o
    + place.x * p.col_o;
  var sum = t_zero();
  for (var k = 0u; k < p.k; k++) {
    sum = t_add(sum, t_mul(load_a(at_a), load_b(at_b)));
    at_a += p.col_a;
    at_b += p.row_b;
  }
  let product = t_mul(load_alpha(0u), sum);
  matmul_write(at_o, t_add(product, matmul_bias(at_c)));
}
