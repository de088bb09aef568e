"""The implementation in use compiles the listed kernels."""

from __future__ import annotations

import os

import pytest

from torch_webgpu import _C

VARIABLE = "TORCH_WEBGPU_COMPILE_STEP"
DEFAULT_STEP = 10


def step() -> int:
    text = os.environ.get(VARIABLE, str(DEFAULT_STEP))
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"{VARIABLE}={text!r}: use a positive number")
    return int(text)


def test_listed_kernels_compile() -> None:
    kernels = _C.list_kernels()
    chosen = range(0, len(kernels), step())
    assert chosen
    faults = []
    for index in chosen:
        try:
            _C.compile_listed(index)
        except Exception as error:
            faults.append(f"{kernels[index]['name']}: {error}")
    shown = "\n".join(faults[:5])
    assert not faults, f"{len(faults)} of {len(chosen)}:\n{shown}"


def test_index_out_of_range_raises() -> None:
    with pytest.raises(ValueError, match="listed kernels"):
        _C.compile_listed(len(_C.list_kernels()))
