"""nonzero, masked_select, masked_scatter, repeat_interleave."""

from __future__ import annotations

import pytest
import torch

from tests.ops.against_cpu import LAYOUTS, WRITABLE, check, make, tricky

DTYPES = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_nonzero(dtype: torch.dtype) -> None:
    x = make((7, 5, 30), dtype) * make((7, 5, 30), torch.bool, seed=2)
    check(torch.nonzero, x.to(dtype))
    check(torch.nonzero, torch.zeros(3, 4, dtype=dtype))
    check(lambda t: torch.nonzero(t, as_tuple=True), x.to(dtype))
    check(torch.count_nonzero, x.to(dtype))


def test_shapes_and_layouts() -> None:
    for _, x in tricky(torch.bool):
        check(torch.nonzero, x)
    check(torch.nonzero, torch.tensor([0.0, -0.0, float("nan"), 1e-40]))
    check(torch.argwhere, make((4, 5), torch.bool))


def test_a_long_one() -> None:
    x = make((100_003,), torch.bool)
    check(torch.nonzero, x)
    check(torch.masked_select, make((100_003,)), x)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float64, torch.complex64])
def test_masked_select(dtype: torch.dtype) -> None:
    mask = make((4, 5), torch.bool, seed=1)
    x = make((4, 5)).to(dtype) if dtype.is_complex else make((4, 5), dtype)
    check(torch.masked_select, x, mask)
    check(torch.masked_select, x[:, :1], mask)
    check(torch.masked_select, x, mask[0])
    check(torch.masked_select, x.t(), mask.t())
    check(torch.masked_select, x, torch.zeros_like(mask))


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float64])
def test_masked_scatter(dtype: torch.dtype) -> None:
    mask = make((4, 5), torch.bool, seed=1)
    x = make((4, 5), dtype)
    source = make((30,), dtype, seed=2)
    check(torch.masked_scatter, x, mask, source)
    check(torch.masked_scatter, x, mask[0], source)
    for layout in WRITABLE.values():
        check(lambda t, m, s: t.masked_scatter_(m, s), layout(x), mask, source)


def test_repeat_interleave() -> None:
    x = make((3, 4))
    repeats = torch.tensor([2, 0, 3])
    check(torch.repeat_interleave, repeats)
    check(torch.repeat_interleave, repeats.int())
    check(torch.repeat_interleave, x, repeats, dim=0)
    check(torch.repeat_interleave, x, 3, dim=1)
    check(torch.repeat_interleave, x, repeats, dim=0, output_size=5)
    check(torch.repeat_interleave, x, repeats, dim=0, grad=True)
    check(torch.repeat_interleave, torch.tensor([0, 0]))


def test_gradients() -> None:
    mask = make((4, 5), torch.bool, seed=1)
    for layout in LAYOUTS.values():
        check(torch.masked_select, layout(make((4, 5))), mask, grad=True)
    check(torch.masked_scatter, make((4, 5)), mask, make((30,)), grad=True)


def test_errors() -> None:
    x = torch.zeros(4, device="webgpu")
    mask = torch.ones(4, dtype=torch.bool, device="webgpu")
    with pytest.raises(RuntimeError, match="source has only"):
        x.masked_scatter_(mask, x[:2])
    with pytest.raises(RuntimeError, match="bool"):
        torch.masked_select(x, x)
