// A copy between two orders of dimensions: what lies side by side in `a` (along
// i) is apart in `o`, and the other way round (along j). A thread turns blocks
// of four by four in its registers, so that both sides move quads. `across`
// threads lie side by side along i, and rounds go on along it.

const across = {{across}}u;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let tile = group_index(group, groups);
  if tile >= p.tiles {
    return;
  }
  let rest = tile / p.tiles_i;
  let batch = rest / p.tiles_j;
  let at = at_all(batch);
  let i = (tile - rest * p.tiles_i) * p.share * across * 4u
          + lane % across * 4u;
  let j = (rest - batch * p.tiles_j) * (256u / across) + lane / across * 4u;
  // Blocks of this thread.
  var rounds = 0u;
  if i < p.size_i && j < p.size_j {
    rounds = min(p.share, (p.size_i - i + 4u * across - 1u) / (4u * across));
  }
  // What the parameters say is read once, not in every round.
  let below = p.step_a / 4u;
  let next = p.step_o / 4u;
  var source = (p.offset_a + at.a + j * p.step_a + i) / 4u;
  var to = (p.offset_o + at.o + i * p.step_o + j) / 4u;
  for (var round = 0u; round < rounds; round++) {
    let r0 = load4_a(source);
    let r1 = load4_a(source + below);
    let r2 = load4_a(source + 2u * below);
    let r3 = load4_a(source + 3u * below);
    store4_o(to, {{quad}}(r0.x, r1.x, r2.x, r3.x));
    store4_o(to + next, {{quad}}(r0.y, r1.y, r2.y, r3.y));
    store4_o(to + 2u * next, {{quad}}(r0.z, r1.z, r2.z, r3.z));
    store4_o(to + 3u * next, {{quad}}(r0.w, r1.w, r2.w, r3.w));
    source += across;
    to += 4u * across * next;
  }
}
