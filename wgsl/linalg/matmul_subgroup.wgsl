// One subgroup of {{lanes}} makes a tile of {{rows}} rows and 4 * {{lanes}} columns:
// each lane loads its part of four steps of `a`, which the others get by
// broadcast, and owns four columns. Made for adapters that are CPUs, where a
// lane's load is slow and a broadcast is not: so a tile is as large as the
// sums that a core can keep close, and its rows are straight code, in which the
// sixteen numbers of `b` stay in registers. Each block of 256 steps has
// accumulators of its own, so that a long sum stays accurate.

@compute @workgroup_size({{lanes}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(subgroup_invocation_id) lane: u32) {
  let tile = group_index(group, groups);
  if tile >= p.tiles {
    return;
  }
  let place = matmul_place(tile);
  let span = matmul_span(place.z);
  let first = place.y * {{rows}}u;
  let col = (place.x * {{lanes}}u + lane) * 4u;
  let start_a = array<vec4<u32>, {{slots}}>({{starts_a}});
  let start_b = matmul_b_start(span.x, col);
  var sum{{it}} = vec4<f32>();
  for (var block = span.y; block < span.z; block += 256u) {
    var part{{it}} = vec4<f32>();
    let end = min(block + 256u, span.z);
    for (var k = block; k < end; k += 4u) {
      let a = array<vec4<f32>, {{slots}}>({{loads_a}});
      let b = {{block_b}};
      { const row = {{it}}u; part{{it}} = matmul_steps({{broadcast}}, b, part{{it}}); }
    }
    sum{{it}} += part{{it}};
  }
  // In a loop, for what a store needs would else be compiled for each row.
  var sums: array<vec4<f32>, {{rows}}>;
  sums[{{it}}] = sum{{it}};
  for (var row = 0u; row < {{rows}}u; row++) {
    matmul_store{{wide_o}}(place.z, first + row, col, sums[row]);
  }
}
