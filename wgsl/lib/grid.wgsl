// The place of a workgroup in a grid that was folded to two dimensions.
fn group_index(group: vec3<u32>, groups: vec3<u32>) -> u32 {
  return group.y * groups.x + group.x;
}

// The place of a thread in such a grid.
fn thread_index(group: vec3<u32>, groups: vec3<u32>, lane: u32, size: u32) -> u32 {
  return group_index(group, groups) * size + lane;
}

// The sizes of a walk; see the C++ struct of this name.
struct Walk {
  sizes: array<vec4<u32>, 2>,
  magic: array<vec4<u32>, 2>,
  shift: array<vec4<u32>, 2>,
  rank: u32,
}

// n / size by the size's own numbers (the method of Granlund and Montgomery).
fn walk_divide(n: u32, magic: u32, shift: u32) -> u32 {
  let high = u32_mul_wide(n, magic).y;
  return (high + ((n - high) >> 1u)) >> shift;
}
