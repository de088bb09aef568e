"""Operands that repeat a row, a column, or an element."""

from __future__ import annotations

import pytest
import torch

from tests.ops.against_cpu import check, make

# Whole chunks of 16 bytes and not, few rows and many, one workgroup and more.
SHAPES = [(1, 16), (3, 32), (5, 7), (300, 16), (70, 1040), (2, 9, 64)]
DTYPES = [torch.float32, torch.float16, torch.int64, torch.uint8]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_and_columns(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = make(shape, dtype)
    row = make(shape[-1:], dtype)
    column = make((*shape[:-1], 1), dtype)
    one = make((1,) * len(shape), dtype)
    for other in (row, column, one):
        check(torch.add, x, other)
        check(torch.mul, other, x)
        check(lambda a, b: a.add_(b), x, other)
    check(torch.add, row, column)
    check(torch.where, x > 0, row, column)
    check(torch.gt, x, row)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_of_views(dtype: torch.dtype) -> None:
    x = make((64, 48), dtype)
    row, column = make((32,), dtype), make((64, 1), dtype)
    check(lambda t, r: t[:, 16:] + r, x, row)
    check(lambda t, r: t[:, 3:35] + r, x, row)
    check(lambda t, r: t.t()[:32].t() + r, x, row)
    check(lambda t, c: t.t() + c[:48], x, column)
    check(lambda t, r: t[::2, 16:].mul_(r), x, row)
    check(lambda t, r: t.expand(64, 32) + r, row, column)


def test_the_copy_of_what_is_expanded() -> None:
    row, column = make((64,)), make((50, 1))
    check(lambda t: t.expand(50, 64).contiguous(), row)
    check(lambda t: t.expand(50, 64).contiguous(), column)
    check(lambda t: t.expand(50, 64).half(), row)
    check(lambda t: torch.zeros(50, 64, device=t.device).copy_(t), column)
