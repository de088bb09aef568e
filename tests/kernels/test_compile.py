"""The implementation in use compiles every listed kernel."""

from __future__ import annotations

import pytest
import torch

from torch_webgpu import _C

PARTS = 8  # so that test workers can share them


@pytest.mark.parametrize("part", range(PARTS))
def test_listed_kernels_compile(part: int) -> None:
    kernels = _C.list_kernels()
    chosen = range(part, len(kernels), PARTS)
    assert chosen
    faults = []
    x = torch.zeros(1, device="webgpu")
    for count, index in enumerate(chosen):
        # Dawn frees what was released when later work has ended.
        if count % 100 == 0:
            x.add_(1).item()
        try:
            _C.compile_listed(index)
        except Exception as error:
            faults.append(f"{kernels[index]['name']}: {error}")
    shown = "\n".join(faults[:5])
    assert not faults, f"{len(faults)} of {len(chosen)}:\n{shown}"


def test_index_out_of_range_raises() -> None:
    with pytest.raises(ValueError, match="listed kernels"):
        _C.compile_listed(len(_C.list_kernels()))
