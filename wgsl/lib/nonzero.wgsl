// An element's coordinates, each in a row of its own of p.total numbers.
fn write_coordinates(e: u32, at: u32) {
  var rest = e;
  for (var d = 0u; d < p.rank; d++) {
    let size = p.sizes[d >> 2u][d & 3u];
    let row = p.rank - 1u - d;
    store_o(row * p.total + at, vec2<u32>(rest % size, 0u));
    rest /= size;
  }
}
