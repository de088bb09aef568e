// softmax and log_softmax of rows.

{{rows}}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = row_of(group, groups, lane);
  if (row >= p.rows) {
    return;
  }
  let a = start_a(row);
  let o = start_o(row);
  let first = first_of(lane);
  let units = row_units();

  // max may drop a NaN: the largest bits tell of one.
  var highs = V(-3.4028234e38);
  var bits = U(0u);
  for (var j = first; j < units; j += threads) {
    let x = take_a(a, j);
    highs = max(highs, x);
    bits = max(bits, bitcast<U>(x) << U(1u));
  }
  let mine = select(unit_max(highs), nan_f32(),
                    unit_max_bits(bits) > 0xff000000u);
  let high = row_max(mine, lane);

  // In blocks, for the accuracy of long sums.
  var total = V(0.0);
  var j = first;
  while (j < units) {
    let stop = j + min(units - j, 32u * threads);
    var block = V(0.0);
    for (; j < stop; j += threads) {
      let e = unit_exp(get_a(a, j) - high);
      {{keep}}
      block += e;
    }
    total += block;
  }
  // A NaN or an infinity makes all of its row NaN; so does a row that is -inf
  // throughout, whose sum is 0.
  var sum = row_sum(total, lane);
  sum = select(nan_f32(), sum, is_finite(high) && sum > 0.0);
  let scale = {{scale}};

  for (var k = first * span; k < units; k += threads * span) {
    for (var i = k; i < k + span; i += 1u) {
      put_o(o, i, {{result}});
    }
  }
}
