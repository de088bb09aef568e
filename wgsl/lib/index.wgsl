// The place along a dimension of p.bound elements that an index means; negative
// ones count from the end if p.wraps. One that is outside is reported and gives
// no_place: reads there give zero, writes there do nothing.
const no_place = 0xffffffffu;

fn place_of_i32(index: i32) -> u32 {
  return place_of_i64(vec2<u32>(bitcast<u32>(index), bitcast<u32>(index >> 31u)));
}

fn place_of_i64(index: vec2<u32>) -> u32 {
  let negative = index.y == 0xffffffffu && p.wraps != 0u;
  let place = index.x + select(0u, p.bound, negative);
  // Adding the bound to an index from -bound to -1 carries out of the word.
  let wrapped = negative && place < index.x;
  if (index.y == 0u || wrapped) && place < p.bound {
    return place;
  }
  report_outside(index);
  return no_place;
}

// The first report stays until the host has read it: whoever finds the first
// word clear, and takes it, writes the others. Later ones only set its highest
// bit, which is no part of a code.
fn report_outside(index: vec2<u32>) {
  if atomic_or_f(0u, 0x80000000u) == 0u {
    write_f(1u, index.x);
    write_f(2u, index.y);
    write_f(3u, p.bound);
    atomic_or_f(0u, p.fault);
  }
}

// An offset that was made of several indices.
fn place_of_u32(offset: u32) -> u32 {
  return offset;
}
