// 256 threads make a tile of 64 by 64, four by four each, from slices of 16
// that they load into workgroup memory together. Each slice of the sum has
// accumulators of its own, so that a long sum stays accurate.

var<workgroup> slice_a: array<f32, 1024>;
var<workgroup> slice_b: array<f32, 1024>;

fn matmul_bias(at: u32) -> f32 {
  return {{bias}};
}

fn matmul_write(at: u32, value: f32) {
  {{store}}_o(at, value);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let tile = group_index(group, groups);
  if tile >= p.tiles {
    return;
  }
  let place = matmul_place(tile);
  let start_a = p.offset_a + place.z * p.batch_a;
  let start_b = p.offset_b + place.z * p.batch_b;
  let at_a = (lane / 16u) * 4u;
  let at_b = (lane % 16u) * 4u;
  var sum{{it}} = vec4<f32>();
  for (var start = 0u; start < p.k; start += 16u) {
    for (var e = lane; e < 1024u; e += 256u) {
      let inner = {{inner_a}};
      let outer = {{outer_a}};
      let row = place.y * 64u + outer;
      let k = start + inner;
      let at = min(row, p.m - 1u) * p.row_a + min(k, p.k - 1u) * p.col_a;
      let value = load_a(start_a + at);
      slice_a[inner * 64u + outer] = select(0.0, value, k < p.k);
    }
    for (var e = lane; e < 1024u; e += 256u) {
      let inner = {{inner_b}};
      let outer = {{outer_b}};
      let col = place.x * 64u + outer;
      let k = start + inner;
      let at = min(k, p.k - 1u) * p.row_b + min(col, p.n - 1u) * p.col_b;
      let value = load_b(start_b + at);
      slice_b[inner * 64u + outer] = select(0.0, value, k < p.k);
    }
    workgroupBarrier();
    var part{{it}} = vec4<f32>();
    for (var k = 0u; k < 1024u; k += 64u) {
      let b = vec4<f32>(slice_b[k + at_b], slice_b[k + at_b + 1u],
                        slice_b[k + at_b + 2u], slice_b[k + at_b + 3u]);
      part{{it}} = fma(vec4<f32>(slice_a[k + at_a + {{it}}u]), b, part{{it}});
    }
    sum{{it}} += part{{it}};
    workgroupBarrier();
  }
  let row = place.y * 64u + at_a;
  let col = place.x * 64u + at_b;
  matmul_store(place.z, row + {{it}}u, col, sum{{it}});
}
