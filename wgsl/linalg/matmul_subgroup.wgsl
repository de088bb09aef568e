// One subgroup makes a tile of {{size}} rows and 4 * {{size}} columns. Each lane
// loads one row's element of `a`, which the others get by broadcast, and owns
// four columns. Made for adapters that are CPUs: there a lane's load is slow
// and a broadcast is not. Each block of the sum has accumulators of its own,
// so that a long sum stays accurate.

fn matmul_bias(at: u32) -> f32 {
  return {{bias}};
}

fn matmul_write(at: u32, value: f32) {
  {{store}}_o(at, value);
}

@compute @workgroup_size({{size}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(subgroup_invocation_id) lane: u32) {
  let tile = group_index(group, groups);
  if tile >= p.tiles {
    return;
  }
  let place = matmul_place(tile);
  let row = place.y * {{size}}u;
  let col = place.x * {{size}}u * 4u + lane * 4u;
  let cols = min(col + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.n - 1u));
  var at_a = p.offset_a + place.z * p.batch_a
    + min(row + lane, p.m - 1u) * p.row_a;
  var at_b = p.offset_b + place.z * p.batch_b + cols * p.col_b;
  var sum{{it}} = vec4<f32>();
  for (var start = 0u; start < p.k; start += 64u) {
    var part{{it}} = vec4<f32>();
    let end = min(start + 64u, p.k);
    for (var k = start; k < end; k++) {
      let a = load_a(at_a);
      let b = vec4<f32>(
        load_b(at_b.x), load_b(at_b.y), load_b(at_b.z), load_b(at_b.w));
      part{{it}} = fma(vec4<f32>(subgroupBroadcast(a, {{it}}u)), b, part{{it}});
      at_a += p.col_a;
      at_b += vec4<u32>(p.row_b);
    }
    sum{{it}} += part{{it}};
  }
  matmul_store(place.z, row + {{it}}u, col, sum{{it}});
}
