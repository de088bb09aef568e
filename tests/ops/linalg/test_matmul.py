"""Matrix products: every shape that changes the kernel, every layout."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.ops.against_cpu import LAYOUTS, check, make

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]

# Around the tiles' borders (8, 32, 64), vectors, and no elements at all.
SIZES = [
    (1, 1, 1),
    (8, 32, 64),
    (9, 33, 65),
    (3, 5, 130),
    (1, 70, 9),
    (70, 1, 9),
    (2, 1, 300),
    (70, 66, 17),
    (4, 6, 0),
    (0, 3, 2),
    (3, 0, 2),
]


def operands(
    m: int, n: int, k: int, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    return (
        make((m, k), dtype, low=-3, high=3)
        if dtype != torch.uint8
        else make((m, k), dtype),
        make((k, n), dtype, seed=1, low=-3, high=3)
        if dtype != torch.uint8
        else make((k, n), dtype, seed=1),
    )


@pytest.mark.parametrize("m,n,k", SIZES)
@pytest.mark.parametrize("dtype", FLOATS + INTS)
def test_mm(m: int, n: int, k: int, dtype: torch.dtype) -> None:
    a, b = operands(m, n, k, dtype)
    check(torch.mm, a, b)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("m,n,k", [(9, 34, 20), (1, 20, 9), (20, 1, 9)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64])
def test_layouts(
    layout: str, m: int, n: int, k: int, dtype: torch.dtype
) -> None:
    a, b = operands(m, n, k, dtype)
    change = LAYOUTS[layout]
    check(torch.mm, change(a), b)
    check(torch.mm, a, change(b))
    check(torch.mm, change(a), change(b))
    check(torch.addmm, change(make((m, n), dtype, low=-2, high=2)), a, b)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int32, torch.int64])
@pytest.mark.parametrize("bias", [(), (1,), (11,), (7, 1), (7, 11)])
def test_addmm(bias: tuple[int, ...], dtype: torch.dtype) -> None:
    a, b = operands(7, 11, 5, dtype)
    c = make(bias, dtype, seed=2, low=-2, high=2)
    check(torch.addmm, c, a, b)
    check(torch.addmm, c, a, b, beta=3, alpha=-2)
    check(torch.addmm, c, a, b, beta=0)
    if bias == (7, 11):
        check(lambda x, y, z: x.addmm_(y, z, beta=2), c, a, b)


def test_beta_of_zero_ignores_nan() -> None:
    a, b = operands(7, 11, 5, torch.float32)
    c = torch.full((7, 11), float("nan"))
    check(torch.addmm, c, a, b, beta=0)
    check(torch.addmm, c, a, b, beta=0, alpha=0)
    check(torch.addmv, c[:, 0], a, b[:, 0], beta=0)
    check(torch.baddbmm, c[None], a[None], b[None], beta=0)


def test_nan_and_infinity_stay_in_their_row() -> None:
    a, b = operands(20, 40, 70, torch.float32)
    a[3, 5] = float("nan")
    a[7, 5] = float("inf")
    check(torch.mm, a, b)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.int8])
def test_bmm(dtype: torch.dtype) -> None:
    a = make((3, 9, 5), dtype, low=-3, high=3)
    b = make((3, 5, 35), dtype, seed=1, low=-3, high=3)
    c = make((3, 9, 35), dtype, seed=2, low=-3, high=3)
    check(torch.bmm, a, b)
    check(torch.bmm, a.transpose(0, 1).contiguous().transpose(0, 1), b)
    check(torch.bmm, a[:1].expand(3, 9, 5), b)
    check(torch.baddbmm, c, a, b, beta=2, alpha=3)
    check(torch.baddbmm, c[0, 0], a, b)
    check(torch.addbmm, c[0], a, b, beta=2, alpha=3)
    check(lambda x, y, z: x.addbmm_(y, z), c[0].clone(), a, b)
    check(lambda x, y, z: x.baddbmm_(y, z), c.clone(), a, b)


@pytest.mark.parametrize("dtype", FLOATS + INTS)
def test_vectors(dtype: torch.dtype) -> None:
    a, b = operands(6, 1, 77, dtype)
    x = b[:, 0].clone()
    check(torch.mv, a, x)
    check(torch.mv, a.t().contiguous().t(), x)
    check(torch.addmv, make((6,), dtype, low=-2, high=2), a, x, beta=2)
    check(torch.dot, a[0], x)
    check(torch.vdot, a[0, ::2], x[::2])
    check(torch.dot, a[0, :0], x[:0])
    check(torch.outer, a[:, 0], x)


def test_out_arguments() -> None:
    a, b = operands(7, 10, 5, torch.float32)
    check(lambda x, y: torch.mm(x, y, out=x.new_empty(0)), a, b)
    check(lambda x, y: torch.mm(x, y, out=x.new_empty(10, 7).t()), a, b)


def test_out_that_is_an_operand() -> None:
    """The CPU gives nonsense or refuses; here it works."""
    x = make((6, 6))

    def check_in_place(
        fn: Callable[[torch.Tensor], object], want: torch.Tensor
    ) -> None:
        y = x.to("webgpu")
        fn(y)
        torch.testing.assert_close(y.cpu(), want)

    check_in_place(lambda y: torch.mm(y, y, out=y), x @ x)
    check_in_place(lambda y: torch.addmm(y, y, y, out=y), x + x @ x)
    check_in_place(lambda y: torch.addmm(y.t(), y, y, out=y), x.t() + x @ x)


def test_half_out_that_shares_words() -> None:
    a, b = operands(7, 9, 5, torch.float16)

    def into_odd_columns(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        base = x.new_ones(7, 11)
        torch.mm(x, y, out=base[:, 1:10])
        return base

    check(into_odd_columns, a, b)


@pytest.mark.parametrize("k", [1000, 4096])
def test_long_sums_are_accurate(k: int) -> None:
    a = make((16, k), low=0, high=1)
    b = make((k, 40), seed=1, low=0, high=1)
    exact = a.double() @ b.double()
    got = (a.to("webgpu") @ b.to("webgpu")).cpu()
    torch.testing.assert_close(got.double(), exact, rtol=1.3e-6, atol=1e-5)
    got = (a[0].to("webgpu") @ b[:, 0].to("webgpu")).cpu()
    torch.testing.assert_close(
        got.double(), exact[0, 0], rtol=1.3e-6, atol=1e-5
    )


def test_gradients() -> None:
    a, b = operands(7, 11, 5, torch.float32)
    check(torch.mm, a, b, grad=True)
    check(torch.addmm, make((11,)), a, b, grad=True)
    check(torch.matmul, make((2, 3, 7, 5)), make((5, 4)), grad=True)
    check(
        torch.nn.functional.linear,
        make((2, 3, 5)),
        make((4, 5)),
        make((4,)),
        grad=True,
    )
    check(
        lambda x, y: torch.einsum("bij,bkj->bik", x, y),
        make((2, 3, 4)),
        make((2, 5, 4), seed=1),
        grad=True,
    )
    check(torch.dot, make((9,)), make((9,), seed=1), grad=True)


def test_errors() -> None:
    a = torch.ones(2, 3, device="webgpu")
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        torch.mm(a, a)
    with pytest.raises(RuntimeError, match="same dtype"):
        torch.mm(a, a.t().half())
    with pytest.raises(RuntimeError, match="dtype"):
        torch.mm(a, a.t(), out=torch.empty(2, 2, device="webgpu").half())
