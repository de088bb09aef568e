// Matrix times vector, which is `b`, along its rows. A workgroup of {{width}} makes
// {{teams}} times {{rows}} rows: for each team's rows, {{parts}} threads take four
// steps of the sum in turn and fold what they have. Each thread's blocks of 64
// turns have accumulators of their own, so that a long sum stays accurate.

@compute @workgroup_size({{width}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let tile = group_index(group, groups);
  if tile >= p.tiles {
    return;
  }
  let place = matmul_place(tile);
  let span = matmul_span(place.z);
  // Threads side by side take what lies side by side in memory.
  let part = {{part}};
  let row = (place.y * {{teams}}u + {{team}}) * {{rows}}u;
  let start_a = matmul_a_start(span.x, row);
  let start_b = matmul_b_start(span.x, 0u).x;
  var sum = vec4<f32>();
  for (var block = span.y + part * 4u; block < span.z; block += {{parts}}u * 256u) {
    var some = vec4<f32>();
    let end = min(block + {{parts}}u * 256u, span.z);
    for (var k = block; k < end; k += {{parts}}u * 4u) {
      let b = matmul_b_inner{{wide_b}}(start_b, k);
      some = {{steps}};
    }
    sum += some;
  }
  let total = {{fold}};
  if part == 0u {
    for (var i = 0u; i < {{rows}}u; i++) {
      if row + i < p.m {
        matmul_finish(place.z, row + i, 0u, total[i]);
      }
    }
  }
}
