"""tril, triu, flip, roll, arange, linspace, eye, and gradients of views."""

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


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float64])
@pytest.mark.parametrize("diagonal", [-9, -1, 0, 2, 9])
def test_triangles(dtype: torch.dtype, diagonal: int) -> None:
    for shape in ((5, 7), (2, 3, 6, 5), (0, 3), (3, 1)):
        check(torch.tril, make(shape, dtype), diagonal)
        check(torch.triu, make(shape, dtype), diagonal)


@pytest.mark.parametrize("layout", WRITABLE)
def test_triangles_of_layouts(layout: str) -> None:
    x = WRITABLE[layout](make((3, 5, 6), torch.int16))
    check(torch.tril, x)
    check(lambda t: t.triu_(1), x)
    check(lambda t: torch.tril(t, out=t.new_empty(6, 5, 3).permute(2, 1, 0)), x)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float64, torch.complex64])
def test_flip_and_roll(dtype: torch.dtype) -> None:
    x = make((3, 4, 5))
    x = x.to(dtype) if dtype.is_complex else make((3, 4, 5), dtype)
    check(torch.flip, x, (0,))
    check(torch.flip, x, (0, 2))
    check(torch.flip, x, ())
    check(torch.fliplr, x)
    check(torch.rot90, x, 1, (0, 2))
    check(torch.roll, x, 2)
    check(torch.roll, x, (-1, 7), (0, 2))
    check(torch.roll, x, 0, 1)


def test_flip_of_layouts() -> None:
    for _, x in tricky():
        check(torch.flip, x, tuple(range(x.dim())))
        check(torch.roll, x, 1)
    for layout in LAYOUTS.values():
        check(torch.roll, layout(make((3, 4))), 1, 0)


@pytest.mark.parametrize("dtype", DTYPES[:-1])
def test_arange(dtype: torch.dtype) -> None:
    like = torch.empty(0, dtype=dtype)

    def numbers(t: torch.Tensor, *args: float) -> torch.Tensor:
        return torch.arange(*args, dtype=t.dtype, device=t.device)

    for args in ((7,), (3, 60), (0, 0), (5, 2, -1), (2, 30, 7)):
        check(numbers, like, *args)
    if dtype.is_floating_point:
        check(numbers, like, -1, 1, 0.1)
        check(numbers, like, 1.5, 0, -0.25)
    if dtype == torch.int64:
        check(numbers, like, -(2**40), -(2**40) + 9, 2)
        check(numbers, like, 2**60, 2**62, 2**58)
    if dtype == torch.float32:
        check(numbers, like, 0, 1000, 0.1)


@pytest.mark.parametrize("dtype", DTYPES[:-1])
def test_linspace(dtype: torch.dtype) -> None:
    like = torch.empty(0, dtype=dtype)

    def numbers(t: torch.Tensor, *args: float) -> torch.Tensor:
        return torch.linspace(*args, dtype=t.dtype, device=t.device)

    for args in ((0, 10, 5), (3, 4, 1), (0, 1, 0), (9, 2, 30), (0, 100, 101)):
        check(numbers, like, *args)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eye(dtype: torch.dtype) -> None:
    like = torch.empty(0, dtype=dtype)
    for args in ((3,), (3, 5), (5, 3), (0, 2)):
        check(
            lambda t, *a: torch.eye(*a, dtype=t.dtype, device=t.device),
            like,
            *args,
        )


def test_gradients_of_views() -> None:
    x = make((4, 4, 5))
    check(lambda t: t[1], x, grad=True)
    check(lambda t: t[:, 1:3], x, grad=True)
    check(lambda t: t.diagonal(1), x, grad=True)
    check(lambda t: t.unfold(2, 3, 1), x, grad=True)
    check(lambda t: t.flip(0), x, grad=True)
    check(lambda t: t.roll(1, 0), x, grad=True)
    check(torch.tril, x, grad=True)
    check(lambda t: torch.nn.functional.pad(t, (1, 2, 0, 1)), x, grad=True)
    check(lambda t: t.repeat(2, 1, 3), x, grad=True)
