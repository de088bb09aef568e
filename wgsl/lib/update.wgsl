// Changes of one element of `o` that other threads may change at the same
// time: a kernel declares combined(old, value), what it becomes.

fn update_f32(at: u32, value: f32) {
  loop {
    let old = read_o(at);
    let next = combined(bitcast<f32>(old), value);
    if atomic_swap_o(at, old, bitcast<u32>(next)) {
      break;
    }
  }
}

fn update_i32(at: u32, value: i32) {
  loop {
    let old = read_o(at);
    let next = combined(bitcast<i32>(old), value);
    if atomic_swap_o(at, old, bitcast<u32>(next)) {
      break;
    }
  }
}

fn update_i16(at: u32, value: i32) {
  let shift = (at & 1u) * 16u;
  loop {
    let old = read_o(at >> 1u);
    let next = combined(extractBits(bitcast<i32>(old), shift, 16u), value);
    let word = insertBits(old, bitcast<u32>(next), shift, 16u);
    if atomic_swap_o(at >> 1u, old, word) {
      break;
    }
  }
}

fn update_i8(at: u32, value: i32) {
  let shift = (at & 3u) * 8u;
  loop {
    let old = read_o(at >> 2u);
    let next = combined(extractBits(bitcast<i32>(old), shift, 8u), value);
    let word = insertBits(old, bitcast<u32>(next), shift, 8u);
    if atomic_swap_o(at >> 2u, old, word) {
      break;
    }
  }
}

fn update_u8(at: u32, value: u32) {
  let shift = (at & 3u) * 8u;
  loop {
    let old = read_o(at >> 2u);
    let next = combined(extractBits(old, shift, 8u), value);
    let word = insertBits(old, next, shift, 8u);
    if atomic_swap_o(at >> 2u, old, word) {
      break;
    }
  }
}

fn update_bool(at: u32, value: u32) {
  let shift = (at & 3u) * 8u;
  loop {
    let old = read_o(at >> 2u);
    let next = combined(extractBits(old, shift, 8u), value);
    let word = insertBits(old, select(0u, 1u, next != 0u), shift, 8u);
    if atomic_swap_o(at >> 2u, old, word) {
      break;
    }
  }
}

// The order in which threads add to the two words does not matter: each carry
// is seen by exactly one of them.
fn add_i64(at: u32, value: vec2<u32>) {
  let old = atomic_add_o(2u * at, value.x);
  let carry = select(0u, 1u, old + value.x < old);
  atomic_add_o(2u * at + 1u, value.y + carry);
}
