// How a scan accumulates, for the kernels scan*.wgsl. A unit is `width`
// elements of a row, from its element r on, which lies at `at`.

alias Acc = {{acc}};

const width = {{width}}u;

fn initial() -> Acc {
  return {{init}};
}

fn merge(acc: Acc, other: Acc) -> Acc {
  return {{merge}};
}

fn step(acc: Acc, x: T, r: u32) -> Acc {
  return {{step}};
}

fn start_of(row: u32) -> u32 {
  let outer = row / p.inner;
  return outer * p.count * p.inner + row - outer * p.inner;
}

fn total(start: u32, begin: u32, end: u32) -> Acc {
  var acc = initial();
  for (var r = begin; r < end; r += width) {
    let at = start + r * p.inner;
    {{take}}
  }
  return acc;
}
