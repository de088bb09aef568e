"""Matrix products by what the kernels' choice depends on: the layout of each
operand, whole quads or not, the tile's size, sums in parts, vectors."""

from __future__ import annotations

import pytest
import torch

from tests.ops.against_cpu import LAYOUTS, check, make

FLOATS = [torch.float32, torch.float16, torch.bfloat16]

# Tiles of 4, 8, 16 and 32 rows (or 64 on a GPU), in quads and not; products
# that are better turned.
SIZES = [
    (4, 64, 20),
    (24, 36, 68),
    (23, 35, 67),
    (160, 128, 64),
    (257, 255, 258),
    (256, 260, 256),
    (300, 6, 12),
]
# Few tiles, long sums.
LONG = [(12, 32, 16384), (3, 30, 16391), (64, 64, 4352)]
# The half types differ in their loads and stores only.
CASES = [(torch.float32, size) for size in SIZES] + [
    (dtype, size) for dtype in FLOATS[1:] for size in SIZES[1:3]
]
LONG_CASES = [(torch.float32, size) for size in LONG] + [
    (torch.float16, LONG[0]),
    (torch.bfloat16, LONG[1]),
]


def product(
    m: int, n: int, k: int, dtype: torch.dtype, layout: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """`layout`: n or t for each operand, as BLAS has it."""
    a = make((m, k), dtype, low=-1, high=1)
    b = make((k, n), dtype, seed=1, low=-1, high=1)
    transposed = LAYOUTS["transposed"]
    return (
        transposed(a) if layout[0] == "t" else a,
        transposed(b) if layout[1] == "t" else b,
    )


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype,size", CASES)
def test_tiles(
    dtype: torch.dtype, size: tuple[int, int, int], layout: str
) -> None:
    check(torch.mm, *product(*size, dtype, layout))


@pytest.mark.parametrize("size", [(256, 260, 256), (257, 131, 258)])
def test_large_tiles_of_halves(size: tuple[int, int, int]) -> None:
    check(torch.mm, *product(*size, torch.float16, "nt"))


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype,size", LONG_CASES)
def test_sums_in_parts(
    dtype: torch.dtype, size: tuple[int, int, int], layout: str
) -> None:
    a, b = product(*size, dtype, layout)
    bias = make(size[:2], dtype, seed=2)
    tolerance = (2e-2, 2e-2) if dtype != torch.float32 else (1e-4, 1e-4)
    exact = 2 * bias.double() + 3 * (a.double() @ b.double())
    x, y, c = a.to("webgpu"), b.to("webgpu"), bias.to("webgpu")
    got = torch.addmm(c, x, y, beta=2, alpha=3)
    in_place = c.addmm_(x, y, beta=2, alpha=3)
    torch.testing.assert_close(
        got.cpu().double(), exact, rtol=tolerance[0], atol=tolerance[1]
    )
    assert torch.equal(got, in_place)


def test_parts_of_a_batch() -> None:
    a = make((2, 8, 8192), low=0, high=1)
    b = make((2, 8192, 36), seed=1, low=0, high=1)
    exact = a.double() @ b.double()
    got = (a.to("webgpu") @ b.to("webgpu")).cpu()
    torch.testing.assert_close(got.double(), exact, rtol=1.3e-6, atol=1e-5)
    turned = b.mT.to("webgpu") @ a.mT.to("webgpu")
    torch.testing.assert_close(
        turned.cpu().double(), exact.mT, rtol=1.3e-6, atol=1e-5
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_many_matrices(dtype: torch.dtype) -> None:
    a = make((64, 130, 9), dtype, low=-1, high=1)
    b = make((64, 9, 68), dtype, seed=1, low=-1, high=1)
    check(torch.bmm, a, b)
    check(torch.bmm, b.mT, a.mT)
    check(torch.bmm, a[:, :, 1:], b[:, 1:, 3:])
    check(torch.bmm, a[:1].expand(64, 130, 9), b)


@pytest.mark.parametrize("m,k", [(1, 260), (3, 64), (36, 300), (70, 131)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_matrix_times_vector(m: int, k: int, dtype: torch.dtype) -> None:
    a, b = product(m, 1, k, dtype, "nn")
    x = b[:, 0].clone()
    for name, change in LAYOUTS.items():
        matrix = change(a)
        check(torch.mv, matrix, x)
        check(lambda m, v: v @ m.t(), matrix, x)
        if name != "expanded":
            check(torch.mv, a, change(x))


@pytest.mark.parametrize("m,k", [(1, 300000), (2, 150001), (36, 9000)])
@pytest.mark.parametrize("layout", ["nn", "tn"])
def test_long_vectors(m: int, k: int, layout: str) -> None:
    a, b = product(m, 1, k, torch.float32, layout)
    exact = a.double() @ b[:, 0].double()
    got = (a.to("webgpu") @ b[:, 0].to("webgpu")).cpu()
    torch.testing.assert_close(got.double(), exact, rtol=1.3e-6, atol=2e-4)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("use_gelu", [False, True])
@pytest.mark.parametrize("n", [36, 35, 1])
def test_activation(n: int, use_gelu: bool, dtype: torch.dtype) -> None:
    a, b = product(9, n, 20, dtype, "nt")
    c = make((n,), dtype, seed=2, low=-1, high=1)
    check(torch._addmm_activation, c, a, b, use_gelu=use_gelu)
    check(torch._addmm_activation, c, a, b, beta=0, alpha=2, use_gelu=use_gelu)


def test_activation_of_nan() -> None:
    a, b = product(9, 36, 20, torch.float32, "nn")
    a[2, 3] = float("nan")
    check(torch._addmm_activation, make((36,)), a, b)


def test_inner_size_of_zero_keeps_the_bias() -> None:
    c = make((36, 40))
    a, b = torch.ones(36, 0), torch.ones(0, 40)
    check(torch.addmm, c, a, b, beta=2)
    check(torch.addmv, c[:, 0], a, torch.ones(0), beta=2)


def test_quads_only_where_all_of_a_view_allows_them() -> None:
    """Offsets and strides of which one is not a multiple of four."""
    base = make((40, 44), low=-1, high=1)
    other = make((48, 48), seed=1, low=-1, high=1)
    for first in (0, 1, 4):
        for step in (1, 2):
            a = base[:32:step, first : first + 36]
            b = other[first : first + 36, first : first + 40]
            check(torch.mm, a, b)
            check(torch.mm, b.t(), a.t())
    odd = make((40, 45), low=-1, high=1)
    check(torch.mm, odd[:, :36], other[:36])
    check(torch.mm, odd[:36].t()[:36], other[:36])


def test_out_in_columns_of_a_wider_tensor() -> None:
    a, b = product(24, 36, 20, torch.float16, "nn")

    def into(first: int, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        base = x.new_ones(24, 44)
        torch.mm(x, y, out=base[:, first : first + 36])
        return base

    for first in (0, 2, 3, 4):
        check(lambda x, y, first=first: into(first, x, y), a, b)
