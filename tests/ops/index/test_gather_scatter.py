"""scatter, scatter_add, scatter_reduce, index_add, index_copy, index_fill."""

from __future__ import annotations

import pytest
import torch

from tests.ops.against_cpu import WRITABLE, check, make

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]


def small(
    shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0
) -> torch.Tensor:
    """Values whose sums and products the narrow floats hold exactly."""
    if dtype == torch.bool:
        return make(shape, dtype, seed=seed)
    low = 0 if dtype == torch.uint8 else -2
    return make(shape, torch.int64, seed=seed, low=low, high=2).to(dtype)


def distinct(shape: tuple[int, int], dim: int, below: int) -> torch.Tensor:
    """Indices of which none occurs twice along dim."""
    n = shape[1 - dim]
    columns = [
        torch.randperm(below, generator=torch.Generator().manual_seed(i))
        for i in range(n)
    ]
    return torch.stack([c[: shape[dim]] for c in columns], 1 - dim)


def repeated(shape: tuple[int, ...], below: int) -> torch.Tensor:
    return make(shape, torch.int64, seed=5, low=0, high=below - 1)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, torch.bool, torch.float64])
@pytest.mark.parametrize("dim", [0, 1])
def test_scatter(dtype: torch.dtype, dim: int) -> None:
    x = make((9, 7), dtype)
    src = make((6, 7), dtype, seed=1)
    index = distinct((4, 5), dim, x.shape[dim])
    check(torch.scatter, x, dim, index, src)
    check(torch.scatter, x, dim, index.int(), src)
    check(torch.scatter, x, dim, index, 1)
    check(lambda t, i, s: t.scatter_(dim, i, s), x.clone(), index, src)


def test_scatter_keeps_one_of_those_that_meet() -> None:
    for dtype in (torch.int64, torch.float32, torch.int8):
        x = torch.zeros(8, dtype=dtype, device="webgpu")
        src = make((1000,), dtype, seed=2)
        index = repeated((1000,), 8)
        got = x.scatter(0, index.to("webgpu"), src.to("webgpu")).cpu()
        for place in range(8):
            assert got[place] in src[index == place]


@pytest.mark.parametrize("dtype", FLOATS + INTS)
@pytest.mark.parametrize("dim", [0, 1])
def test_scatter_add(dtype: torch.dtype, dim: int) -> None:
    x = small((9, 7), dtype)
    src = small((6, 7), dtype, seed=1)
    index = repeated((5, 6), 7)
    check(torch.scatter_add, x, dim, index, src)
    check(
        lambda t, i, s: t.scatter_(dim, i, s, reduce="add"),
        x.clone(),
        index,
        src,
    )
    check(
        lambda t, i, s: t.scatter_(dim, i, s, reduce="multiply"),
        x.clone(),
        index,
        src,
    )
    check(
        lambda t, i: t.scatter_(dim, i, 2, reduce="multiply"), x.clone(), index
    )


def test_int64_sums_carry() -> None:
    x = torch.zeros(3, dtype=torch.int64)
    src = make((500,), torch.int64, seed=3)
    check(torch.scatter_add, x, 0, repeated((500,), 3), src)
    ones = torch.full((500,), 2**32 - 1)
    check(torch.scatter_add, x, 0, repeated((500,), 3), ones)
    check(torch.scatter_add, x, 0, repeated((500,), 3), -ones)


@pytest.mark.parametrize("dtype", FLOATS + INTS)
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_scatter_reduce(
    dtype: torch.dtype, reduce: str, include_self: bool
) -> None:
    x = small((5, 7), dtype)
    src = small((6, 7), dtype, seed=1)
    index = repeated((4, 7), 5)
    check(
        torch.scatter_reduce,
        x,
        0,
        index,
        src,
        reduce,
        include_self=include_self,
    )
    index = repeated((5, 6), 7)
    check(
        torch.scatter_reduce,
        x,
        1,
        index,
        src,
        reduce,
        include_self=include_self,
    )


def test_extremes_of_large_int64() -> None:
    x = make((4, 3), torch.int64)
    src = make((40, 3), torch.int64, seed=1)
    index = repeated((40, 3), 4)
    for reduce in ("amax", "amin", "prod"):
        check(torch.scatter_reduce, x, 0, index, src, reduce)


def test_amax_keeps_nan() -> None:
    x = make((4,))
    src = torch.tensor([1.0, float("nan"), -3.0, 2.0])
    index = torch.tensor([0, 1, 1, 3])
    for reduce in ("amax", "amin", "sum"):
        check(torch.scatter_reduce, x, 0, index, src, reduce)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, torch.bool])
@pytest.mark.parametrize("dim", [0, 1])
def test_rows(dtype: torch.dtype, dim: int) -> None:
    x = small((6, 5), dtype)
    index = torch.tensor([4, 0, 2])
    source = small((3, 3), dtype, seed=1)
    source = torch.cat([source] * 2, 1 - dim).narrow(
        1 - dim, 0, x.shape[1 - dim] - (1 if dim == 0 else 0)
    )
    target = x.narrow(1 - dim, 0, source.shape[1 - dim])
    check(torch.index_copy, target, dim, index, source)
    check(torch.index_add, target, dim, index.int(), source)
    check(torch.index_add, target, dim, torch.tensor([1, 1, 1]), source)
    check(torch.index_fill, x, dim, index, 1)
    check(torch.index_fill, x, dim, index, torch.tensor(1).to(dtype))
    if dtype != torch.bool:
        check(torch.index_add, target, dim, index, source, alpha=3)


@pytest.mark.parametrize("layout", WRITABLE)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int16, torch.int64])
def test_layouts(layout: str, dtype: torch.dtype) -> None:
    change = WRITABLE[layout]
    x = change(small((6, 5), dtype))
    src = change(small((3, 5), dtype, seed=1))
    index = change(repeated((3, 5), 6))
    check(lambda t, i, s: t.scatter_add_(0, i, s), x, index, src)
    check(lambda t, i, s: t.index_add_(0, i, s), x, index[:, 0], src)
    check(
        lambda t, i, s: t.index_copy_(0, i, s), x, torch.tensor([5, 1, 3]), src
    )
    check(lambda t, i: t.index_fill_(1, i, 7), x, torch.tensor([4, 1]))


def test_put() -> None:
    x = make((4, 5))
    index = torch.tensor([[0, 7], [-1, 3]])
    source = make((2, 2), seed=1)
    check(torch.put, x, index, source)
    check(torch.put, x.t(), index, source)
    check(
        torch.put,
        x,
        torch.tensor([1, 1, 1, 1]),
        source.view(4),
        accumulate=True,
    )


def test_edge_shapes() -> None:
    none = torch.empty(0, dtype=torch.int64)
    check(torch.scatter, make((3,)), 0, none, make((0,)))
    check(torch.scatter_add, make(()), 0, torch.tensor(0), make((), seed=1))
    check(torch.index_add, make((3, 2)), 0, none, make((0, 2)))
    check(torch.index_add, make((3,)), 0, torch.tensor(1), make((1,), seed=1))
    check(torch.index_fill, make(()), 0, torch.tensor([0]), 2.0)
    check(torch.nn.functional.one_hot, torch.tensor([[1, 0], [3, 2]]), 5)


def test_arguments_that_share_memory() -> None:
    """The CPU refuses this one."""
    x = make((4, 3))
    y = x.to("webgpu")
    y.index_put_((torch.tensor([0, 1], device="webgpu"),), y[1:3])
    assert torch.equal(y.cpu(), torch.cat([x[1:3], x[2:]]))
    i = torch.tensor([1, 2, 5, 7], device="webgpu")
    i.index_put_((i[:2],), i[1:3], accumulate=True)
    assert i.tolist() == [1, 4, 10, 7]


def test_gradients() -> None:
    x = make((4, 5))
    src = make((4, 5), seed=1)
    index = repeated((4, 5), 5)
    check(torch.scatter_add, x, 1, index, src, grad=True)
    check(torch.index_add, x, 0, torch.tensor([1, 1, 2, 0]), src, grad=True)
    check(torch.scatter, x, 1, distinct((4, 5), 1, 5), src, grad=True)
    for reduce in ("sum", "mean", "amax"):
        check(torch.scatter_reduce, x, 1, index, src, reduce, grad=True)
