// The place along a dimension of `bound` elements that an index means:
// negative ones count from the end. One that is outside gives no_place; reads
// there give zero, writes there do nothing.
const no_place = 0xffffffffu;

fn place_of_i32(index: i32, bound: u32) -> u32 {
  let place = bitcast<u32>(index) + select(0u, bound, index < 0);
  return select(no_place, place, place < bound);
}

fn place_of_i64(index: vec2<u32>, bound: u32) -> u32 {
  let negative = index.y == 0xffffffffu;
  let place = index.x + select(0u, bound, negative);
  // Adding the bound to an index from -bound to -1 carries out of the word.
  let wrapped = negative && place < index.x;
  let valid = (index.y == 0u || wrapped) && place < bound;
  return select(no_place, place, valid);
}

// An offset that was made of several indices.
fn place_of_u32(offset: u32, bound: u32) -> u32 {
  return offset;
}
