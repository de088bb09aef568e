// softmax and log_softmax of dense rows in quads; `threads` threads share a row.

const threads = {{threads}}u;

var<workgroup> group_values: array<f32, threads>;

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = {{row}};
  if (row >= p.rows) {
    return;
  }
  let quads = p.count >> 2u;
  let first = {{first}};
  let start = (p.a_offset >> 2u) + row * quads;
  let to = (p.o_offset >> 2u) + row * quads;

  // max may drop a NaN: the largest bits tell of one.
  var highs = vec4<f32>(-3.4028234e38);
  var bits = vec4<u32>();
  for (var q = first; q < quads; q += threads) {
    let x = load4_a(start + q);
    highs = max(highs, x);
    bits = max(bits, bitcast<vec4<u32>>(x) << vec4<u32>(1u));
  }
  let most = max(max(bits.x, bits.y), max(bits.z, bits.w));
  let mine = max(max(highs.x, highs.y), max(highs.z, highs.w));
  let high = {{share}}_max(
    select(mine, nan_f32(), most > 0xff000000u), lane);

  // In blocks, for the accuracy of long sums.
  var total = vec4<f32>();
  var q = first;
  while (q < quads) {
    let stop = q + min(quads - q, 32u * threads);
    var block = vec4<f32>();
    for (; q < stop; q += threads) {
      let e = m_exp4_down(load4_a(start + q) - high);
      {{keep}}
      block += e;
    }
    total += block;
  }
  // A NaN or an infinity makes all of its row NaN; so does a row that is -inf
  // throughout, whose sum is 0.
  var sum = {{share}}_sum((total.x + total.y) + (total.z + total.w), lane);
  sum = select(nan_f32(), sum, is_finite(high) && sum > 0.0);
  let scale = {{scale}};

  for (var i = first; i < quads; i += threads) {
    let q = i;
    store4_o(to + q, {{result}});
  }
}
