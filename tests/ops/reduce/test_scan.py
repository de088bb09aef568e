"""cumsum, cumprod, logcumsumexp, cummax, cummin."""

from __future__ import annotations

import math

import pytest
import torch

from tests.ops.against_cpu import LAYOUTS, check, make

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
ALL = [*FLOATS, *INTS, torch.bool]
SHAPES = [(), (7,), (70, 5), (3, 300), (2, 90, 3)]


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_dim(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    low, high = (-1, 1) if dtype.is_floating_point else (None, None)
    x = make(shape, dtype, low=low, high=high)
    for dim in range(max(1, len(shape))):
        check(torch.cumsum, x, dim=dim)
        check(torch.cumprod, x, dim=dim)
        check(torch.cummax, x, dim=dim)
        check(torch.cummin, x, dim=dim)
        if dtype.is_floating_point:
            check(torch.logcumsumexp, x, dim=dim)


@pytest.mark.parametrize("size", [200, 30_000, 300_000])
def test_long_rows(size: int) -> None:
    x = make((2, size), low=-1, high=1)
    check(torch.cumsum, x, dim=1)
    check(torch.cummax, x, dim=1)
    check(torch.cumsum, make((size,), torch.int64), dim=0)
    check(torch.cumsum, make((size,), torch.bool), dim=0)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    x = LAYOUTS[layout](make((5, 6, 7)))
    check(torch.cumsum, x, dim=1)
    check(torch.cummin, x, dim=0)


def test_infinities_and_nan() -> None:
    x = torch.tensor([1, math.inf, 2, -math.inf, 3])
    check(torch.cumsum, x, dim=0)
    check(torch.logcumsumexp, x, dim=0)
    y = torch.tensor([2, 5, 5, math.nan, 7, math.nan, 1])
    check(torch.cummax, y, dim=0)
    check(torch.cummin, y, dim=0)


def test_dtype_argument() -> None:
    check(torch.cumsum, make((9,)), dim=0, dtype=torch.int32)
    check(torch.cumprod, make((9,), torch.int8), dim=0, dtype=torch.float32)
    check(lambda t: t.cumsum_(1), make((3, 9), torch.uint8))


def test_gradients() -> None:
    x = make((4, 30), low=0.5, high=1.5)
    for dim in (0, 1):
        check(torch.cumsum, x, dim=dim, grad=True)
        check(torch.cumprod, x, dim=dim, grad=True)
        check(torch.logcumsumexp, x, dim=dim, grad=True)
        check(lambda t, dim=dim: torch.cummax(t, dim)[0], x, grad=True)
