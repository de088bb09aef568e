// 256 threads make a tile of {{tile}} rows and 64 columns, {{rows}} by four each,
// from slices of 16 steps in workgroup memory. While a slice is summed, the next
// one is on its way: 4 by 4 blocks, turned in registers where memory runs along
// the sum, go to the other half of the workgroup's memory. Each 64 steps of the
// sum have accumulators of their own, so that a long sum stays accurate.

// Two slices by quads of rows (columns) of a step.
var<workgroup> slice_a: array<vec4<f32>, {{size_a}}>;
var<workgroup> slice_b: array<vec4<f32>, 512>;

// The place of a quad in a step, so that neither the threads that store a block
// nor those that read a step meet in a bank.
fn swizzle(quad: u32, step: u32) -> u32 {
  return quad ^ ((step >> 2u) << 1u);
}

fn fetch_a(start: vec4<u32>, k: u32) -> mat4x4<f32> {
  if k >= p.k {
    return mat4x4<f32>();
  }
  return {{block_a}};
}

fn fetch_b(start: vec4<u32>, k: u32) -> mat4x4<f32> {
  if k >= p.k {
    return mat4x4<f32>();
  }
  return {{block_b}};
}

fn keep_a(half: u32, quad: u32, step: u32, block: mat4x4<f32>) {
  let at = half * {{half_a}}u + step * {{quads_a}}u + swizzle(quad, step);
  slice_a[at] = block[0];
  slice_a[at + {{quads_a}}u] = block[1];
  slice_a[at + 2u * {{quads_a}}u] = block[2];
  slice_a[at + 3u * {{quads_a}}u] = block[3];
}

fn keep_b(half: u32, quad: u32, step: u32, block: mat4x4<f32>) {
  let at = half * 256u + step * 16u + swizzle(quad, step);
  slice_b[at] = block[0];
  slice_b[at + 16u] = block[1];
  slice_b[at + 32u] = block[2];
  slice_b[at + 48u] = block[3];
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
  let span = matmul_span(place.z);
  // The first threads fetch `a`, the next 64 `b`: neighbours side by side in
  // memory.
  let loads_a = lane < {{loads_a}}u;
  let loads_b = lane >= 128u && lane < 192u;
  let quad_a = {{quad_a}};
  let step_a = {{step_a}} * 4u;
  let quad_b = {{quad_b}};
  let step_b = {{step_b}} * 4u;
  let start_a = matmul_a_start(span.x, place.y * {{tile}}u + quad_a * 4u);
  let start_b = matmul_b_start(span.x, place.x * 64u + quad_b * 4u);
  var next = mat4x4<f32>();
  if loads_a {
    keep_a(0u, quad_a, step_a, fetch_a(start_a, span.y + step_a));
  }
  if loads_b {
    keep_b(0u, quad_b, step_b, fetch_b(start_b, span.y + step_b));
  }
  let row = lane / 16u;
  let col = lane % 16u;
  var sum{{it}} = vec4<f32>();
  var part{{it}} = vec4<f32>();
  var half = 0u;
  for (var slice = span.y; slice < span.z; slice += 16u) {
    workgroupBarrier();
    let more = slice + 16u < span.z;
    if more && loads_a {
      next = fetch_a(start_a, slice + 16u + step_a);
    }
    if more && loads_b {
      next = fetch_b(start_b, slice + 16u + step_b);
    }
    for (var step = 0u; step < 16u; step++) {
      let b = slice_b[half * 256u + step * 16u + swizzle(col, step)];
      let at = half * {{half_a}}u + step * {{quads_a}}u;
      let a = array<vec4<f32>, {{quads}}>({{reads_a}});
      part{{it}} = fma(vec4<f32>(a[{{it}} / 4][{{it}} % 4]), b, part{{it}});
    }
    if (slice & 48u) == 48u {
      sum{{it}} += part{{it}};
      part{{it}} = vec4<f32>();
    }
    half = 1u - half;
    if more && loads_a {
      keep_a(half, quad_a, step_a, next);
    }
    if more && loads_b {
      keep_b(half, quad_b, step_b, next);
    }
  }
  sum{{it}} += part{{it}};
  let top = place.y * {{tile}}u + row * 4u;
  let left = place.x * 64u + col * 4u;
  matmul_store{{wide_o}}(place.z, top + {{it}}u % 4u + ({{it}}u / 4u) * 64u, left, sum{{it}});
}
