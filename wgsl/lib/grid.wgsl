// The place of a workgroup in a grid that was folded to two dimensions.
fn group_index(group: vec3<u32>, groups: vec3<u32>) -> u32 {
  return group.y * groups.x + group.x;
}

// The place of a thread in such a grid.
fn thread_index(group: vec3<u32>, groups: vec3<u32>, lane: u32, size: u32) -> u32 {
  return group_index(group, groups) * size + lane;
}
