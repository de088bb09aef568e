"""softmax and log_softmax: rows of every length, any dimension, half types
whose rows do not begin at 32-bit words."""

from __future__ import annotations

import math

import pytest
import torch

from tests.ops.against_cpu import DEVICE, LAYOUTS, check, make

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
FUNCTIONS = [torch.softmax, torch.log_softmax]
SHAPES = [(9,), (70, 5), (3, 1001), (2, 300, 70), (2, 3, 4, 65), (64, 200)]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_dim(fn, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = make(shape, dtype)
    for dim in range(len(shape)):
        check(fn, x, dim=dim, grad=dtype == torch.float32)


@pytest.mark.parametrize("dtype", FLOATS[1:], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_half_gradients(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """Against float64 from the same rounded inputs: the CPU rounds in
    between, and a result's last place is much of its exponential."""
    for dim in range(len(shape)):
        grad = make(shape, dtype, seed=1)
        for name, fn in (
            ("_softmax_backward_data", torch.softmax),
            ("_log_softmax_backward_data", torch.log_softmax),
        ):
            y = fn(make(shape, dtype), dim)
            backward = getattr(torch.ops.aten, name)
            want = backward(grad.double(), y.double(), dim, torch.float64)
            got = backward(grad.to(DEVICE), y.to(DEVICE), dim, dtype)
            torch.testing.assert_close(got.cpu(), want.to(dtype))


@pytest.mark.parametrize("fn", FUNCTIONS, ids=["softmax", "log_softmax"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(fn, layout: str) -> None:
    for dtype in FLOATS:
        check(fn, LAYOUTS[layout](make((5, 6, 7), dtype)), dim=1)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=["softmax", "log_softmax"])
def test_half_to_float(fn) -> None:
    for dtype in FLOATS[1:]:
        x = make((3, 7), dtype)
        check(fn, x, dim=1, dtype=torch.float32, grad=True)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=["softmax", "log_softmax"])
def test_extremes(fn) -> None:
    inf = math.inf
    x = torch.tensor(
        [[-inf, 0.0, 1.0], [-inf, -inf, -inf], [inf, 0, 1], [1e38, -1e38, 0]]
    )
    check(fn, x, dim=1)
    check(fn, torch.tensor([[math.nan, 1.0]]), dim=1)
    check(fn, torch.tensor(3.0), dim=0)
    check(fn, torch.empty(0, 4), dim=1)
    check(fn, torch.empty(4, 0), dim=1)


def test_long_row() -> None:
    x = make((2, 50_000), low=-1, high=1)
    check(torch.softmax, x, dim=1, grad=True)
    check(torch.log_softmax, x, dim=1, grad=True)
    check(torch.softmax, x.t().contiguous(), dim=0)


def test_double_backward() -> None:
    def second(x: torch.Tensor) -> torch.Tensor:
        (g,) = torch.autograd.grad(
            torch.softmax(x, 1).pow(2).sum(), x, create_graph=True
        )
        return g

    check(second, make((3, 5)), grad=True)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("count", [32, 36, 256, 1024, 4100], ids=str)
def test_rows_in_quads(fn, count: int, dtype: torch.dtype) -> None:
    """Aligned rows, and the same that begin between quads."""
    x = make((17, count), dtype)
    check(fn, x, dim=-1, grad=dtype == torch.float32)
    flat = make((17 * count + 2,), dtype)
    for start in (0, 1, 2):
        check(
            lambda f, s=start: fn(f[s:][: 17 * count].view(17, count), -1), flat
        )


@pytest.mark.parametrize("fn", FUNCTIONS, ids=["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", [(20, 256), (2, 256), (20, 7)], ids=str)
def test_a_maximum_far_above_the_first_values(fn, shape) -> None:
    x = make(shape)
    x[:, -2] = 70.0  # the exponentials would overflow float32's digits
    x[0, -2] = 3e4
    x[1, :-2] = -math.inf
    check(fn, x, dim=-1)
    x[1, -2] = math.nan
    check(fn, x, dim=-1)
    x[1, -2] = math.inf
    check(fn, x, dim=-1)
    check(fn, torch.full(shape, -math.inf), dim=-1)
