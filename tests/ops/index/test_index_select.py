"""index_select, gather, take, embedding: reads by way of an index."""

from __future__ import annotations

import pytest
import torch

from tests.ops.against_cpu import LAYOUTS, check, make

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
    torch.float64,
    torch.complex64,
    torch.complex128,
]


def values(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    if dtype.is_complex:
        return torch.complex(make(shape), make(shape, seed=3)).to(dtype)
    return make(shape, dtype)


def indices(
    shape: tuple[int, ...], below: int, dtype: torch.dtype = torch.int64
) -> torch.Tensor:
    return make(shape, dtype, seed=9, low=0, high=below - 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index_dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_index_select(
    dtype: torch.dtype, index_dtype: torch.dtype, dim: int
) -> None:
    x = values((3, 5, 7), dtype)
    check(torch.index_select, x, dim, indices((11,), x.shape[dim], index_dtype))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
def test_layouts(layout: str, dtype: torch.dtype) -> None:
    change = LAYOUTS[layout]
    x = change(make((4, 5, 6), dtype))
    i = change(indices((9,), 4))
    check(torch.index_select, x, 0, i)
    check(torch.index_select, x, 2, i)
    check(torch.gather, x, 1, change(indices((4, 3, 6), 5)))
    check(torch.take, x, change(indices((3, 4), 120)))
    check(torch.take_along_dim, x, indices((4, 1, 6), 5), 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather(dtype: torch.dtype) -> None:
    x = values((4, 5, 6), dtype)
    for dim in range(3):
        check(torch.gather, x, dim, indices((2, 3, 4), x.shape[dim]))
        check(torch.gather, x, dim, indices((4, 5, 6), x.shape[dim]))
    check(torch.gather, x[0, 0, 0], 0, torch.tensor(0))
    check(torch.gather, x[0, 0], 0, torch.empty(0, dtype=torch.int64))


def test_edge_shapes() -> None:
    check(torch.index_select, make(()), 0, torch.tensor([0]))
    check(torch.index_select, make((5,)), 0, torch.tensor(3))
    check(torch.index_select, make((5, 0)), 0, torch.tensor([1, 2]))
    check(torch.index_select, make((5, 2)), 0, torch.empty(0).long())
    check(torch.take, make((5, 2)), torch.tensor([-1, -10, 3]))
    eleven = make((2,) * 11).permute(*range(10, -1, -1))
    check(torch.index_select, eleven, 5, torch.tensor([1, 0, 1]))
    check(torch.gather, eleven[:, ::2], 4, indices((1,) * 11, 2))


def test_out() -> None:
    x = make((4, 6))
    i = indices((4,), 4)
    check(lambda a, b: torch.index_select(a, 0, b, out=a.new_empty(0)), x, i)
    check(
        lambda a, b: torch.index_select(a, 0, b, out=a.new_empty(6, 4).t()),
        x,
        i,
    )
    j = indices((4, 6), 4)
    check(lambda a, b: torch.gather(a, 0, b, out=a.new_empty(0)), x, j)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("index_dtype", [torch.int64, torch.int32])
def test_embedding(dtype: torch.dtype, index_dtype: torch.dtype) -> None:
    weight = make((9, 5), dtype)
    i = indices((4, 6), 9, index_dtype)
    embedding = torch.nn.functional.embedding
    check(lambda w, j: embedding(j, w), weight, i, grad=True)
    check(lambda w, j: embedding(j, w, padding_idx=3), weight, i, grad=True)
    check(
        lambda w, j: embedding(j, w, padding_idx=3, scale_grad_by_freq=True),
        weight,
        i,
        grad=True,
    )
    check(lambda w, j: embedding(j, w), weight, i[:0], grad=True)


def test_gradients() -> None:
    x = make((4, 5))
    check(torch.index_select, x, 1, indices((7,), 5), grad=True)
    check(torch.gather, x, 1, indices((4, 7), 5), grad=True)
    check(torch.take, x, indices((7,), 20), grad=True)
