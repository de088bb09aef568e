// What the device says of its subgroups; for implementations that do not.

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32,
        @builtin(subgroup_size) size: u32) {
  if lane == 0u {
    write_o(0u, size);
  }
}
