// softmax and log_softmax of rows.

{{rows}}

// What a thread finds in its units: the largest one (max may drop a NaN: the
// largest bits tell of one), and the sum of their exponentials, less `origin`.
struct Found {
  highs: V,
  bits: U,
  sum: V,
}

fn exponentials(a: u32, o: u32, first: u32, end: u32, origin: f32) -> Found {
  var found = Found(V(-3.4028234e38), U(0u), V(0.0));
  var j = first;
  // In blocks, for the accuracy of long sums.
  while (j < end) {
    let stop = j + min(end - j, 32u * threads);
    var block = V(0.0);
    for (; j < stop; j += threads) {
      let x = take_a(a, j);
      found.highs = max(found.highs, x);
      found.bits = max(found.bits, bitcast<U>(x) << U(1u));
      let e = unit_exp(x - origin);
      {{keep}}
      block += e;
    }
    found.sum += block;
  }
  return found;
}

@compute @workgroup_size({{workgroup}})
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = row_of(group, groups, lane);
  if (row >= p.rows) {
    return;
  }
  let a = start_a(row, lane);
  let o = start_o(row, lane);
  let first = first_of(lane);
  let units = row_units();

  // One pass, with exponentials of the distances from a value of the row; a
  // second one with those from its maximum where that is too far above.
  let guess = max({{guess}}, -3.4028234e38);
  let found = exponentials(a, o, first, units, guess);
  let mine = select(unit_max(found.highs), nan_f32(),
                    unit_max_bits(found.bits) > 0xff000000u);
  let high = row_max(mine, lane);
  let near = high - guess <= 64.0;
  let origin = select(high, guess, near);
  let again = exponentials(a, o, first, select(units, 0u, near), origin);
  let sum = row_sum(select(again.sum, found.sum, near), lane);
  // A NaN or an infinity makes all of its row NaN; so does a row that is -inf
  // throughout, whose sum is 0.
  let high_sum = select(nan_f32(), sum * m_exp(origin - high),
                        is_finite(high) && sum > 0.0);
  let scale = {{scale}};

  for (var i = first_put(lane); i < units; i = next_put(i)) {
    put_o(o, i, {{result}});
  }
}
