"""torch.webgpu.compile_shader: a user's own WGSL."""

from __future__ import annotations

import pytest
import torch

from tests.torch.process import run_python

SCALE = """
// @compute fn not_an_entry_point
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
const size = 32;

@compute @workgroup_size(size)
fn twice(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < arrayLength(&y)) {
    y[id.x] = 2.0 * x[id.x];
  }
}

@compute @workgroup_size(4, 4)
fn add_position(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < 8u && id.y < 8u) {
    y[id.y * 8u + id.x] = x[id.y * 8u + id.x] + f32(id.x + 10u * id.y);
  }
}
"""


def test_entry_points_are_callables() -> None:
    library = torch.webgpu.compile_shader(SCALE)
    x = torch.arange(100.0, device="webgpu")
    y = torch.zeros(100, device="webgpu")
    library.twice(x, y)
    assert torch.equal(y.cpu(), 2 * torch.arange(100.0))
    assert library.twice.workgroup_size == (32, 1, 1)
    assert {"twice", "add_position"} <= set(dir(library))


def test_threads_make_the_grid() -> None:
    library = torch.webgpu.compile_shader(SCALE)
    x, y = torch.zeros(64, device="webgpu"), torch.zeros(64, device="webgpu")
    library.add_position(x, y, threads=(8, 8))
    i = torch.arange(64)
    assert torch.equal(y.cpu(), (i % 8 + 10 * (i // 8)).float())
    library.twice(y, x, threads=32)
    assert x[:32].tolist() == (2 * y[:32]).tolist()
    assert x[32:].tolist() == [0.0] * 32


def test_work_is_ordered_with_operators() -> None:
    library = torch.webgpu.compile_shader(SCALE)
    x = torch.ones(64, device="webgpu") + 1
    y = torch.empty_like(x)
    library.twice(x, y)
    assert (y + 1).tolist() == [5.0] * 64


def test_out_of_bounds_is_harmless() -> None:
    """Dawn checks all shaders of a device or none."""
    script = """
        import torch

        library = torch.webgpu.compile_shader('''
            @group(0) @binding(0) var<storage, read_write> y: array<f32>;
            @compute @workgroup_size(64)
            fn spill(@builtin(global_invocation_id) id: vec3<u32>) {
              y[id.x * 1000000u] = 1.0;
            }''')
        y = torch.zeros(4, device="webgpu")
        neighbour = torch.zeros(4, device="webgpu")
        library.spill(y, threads=64)
        assert neighbour.tolist() == [0.0] * 4
        assert y[0].item() == 1.0
    """
    dawn = torch.webgpu.implementation() == "dawn"
    run_python(script, TORCH_WEBGPU_VALIDATION="1" if dawn else "0")


def test_faults_in_the_text() -> None:
    with pytest.raises(RuntimeError, match="broken"):
        torch.webgpu.compile_shader(
            "@compute @workgroup_size(1) fn broken() { this is no WGSL; }"
        )
    with pytest.raises(ValueError, match="no entry point"):
        torch.webgpu.compile_shader("fn f() {}")
    with pytest.raises(ValueError, match="`u` is not supported"):
        torch.webgpu.compile_shader(
            "@group(0) @binding(0) var<uniform> u: f32;\n"
            "@compute @workgroup_size(1) fn f() {}"
        )
    with pytest.raises(ValueError, match="numbered 0, 1, 2"):
        torch.webgpu.compile_shader(
            "@group(0) @binding(1) var<storage, read> u: array<f32>;\n"
            "@compute @workgroup_size(1) fn f() {}"
        )
    with pytest.raises(AttributeError, match="only add_position, twice"):
        _ = torch.webgpu.compile_shader(SCALE).thrice


def test_faults_in_the_call() -> None:
    library = torch.webgpu.compile_shader(SCALE)
    x, y = torch.zeros(64, device="webgpu"), torch.zeros(64, device="webgpu")
    with pytest.raises(ValueError, match="takes 2 tensors, got 1"):
        library.twice(x)
    with pytest.raises(ValueError, match="share memory"):
        library.twice(x, x)
    with pytest.raises(ValueError, match="contiguous webgpu tensors"):
        library.twice(x.cpu(), y)
    with pytest.raises(ValueError, match="starts at byte 4"):
        library.twice(x[1:], y)
    with pytest.raises(TypeError, match="expected a tensor, got int"):
        library.twice(1, y)
    with pytest.raises(ValueError, match="workgroups"):
        library.twice(x, y, threads=2**27)
    with pytest.raises(ValueError, match="one to three"):
        library.twice(x, y, threads=(1, 1, 1, 1))
