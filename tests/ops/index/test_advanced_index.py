"""x[i, j], x[mask], x[i, j] = values."""

from __future__ import annotations

import pytest
import torch

from tests.ops.against_cpu import LAYOUTS, WRITABLE, check, make

I = torch.tensor([2, 0, -1, 1])  # noqa: E741
J = torch.tensor([[1], [3]])
DTYPES = [
    torch.float32,
    torch.float16,
    torch.int64,
    torch.int16,
    torch.uint8,
    torch.bool,
    torch.float64,
]

READS = {
    "one": lambda x, i, j: x[i],
    "second": lambda x, i, j: x[:, i],
    "two": lambda x, i, j: x[i, i],
    "broadcast": lambda x, i, j: x[i, j],
    "apart": lambda x, i, j: x[i, :, j],
    "three": lambda x, i, j: x[i, j, i],
    "sliced": lambda x, i, j: x[1:, i, ::2],
    "number": lambda x, i, j: x[1, i],
    "none": lambda x, i, j: x[i[:0]],
    "int32": lambda x, i, j: x[i.int(), j.int()],
    "mask": lambda x, i, j: (
        x[x > x.mean(dtype=torch.float32)]
        if x.is_floating_point()
        else x[x != 0]
    ),
    "mask of rows": lambda x, i, j: x[(i > 0)],
    "mask behind": lambda x, i, j: x[:, (i > 0)],
    "mask and index": lambda x, i, j: x[(i > 0), i[:2]],
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reads(read: str, dtype: torch.dtype) -> None:
    x = make((4, 4, 5), dtype)
    if dtype == torch.float64 and read == "mask":
        pytest.skip("compares float64 numbers, which the CPU does")
    check(READS[read], x, I, J)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    x = LAYOUTS[layout](make((4, 4, 5)))
    for read in ("one", "two", "broadcast", "apart", "mask of rows"):
        check(READS[read], x, I, J)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", WRITABLE)
def test_writes(dtype: torch.dtype, layout: str) -> None:
    x = WRITABLE[layout](make((4, 4, 5), dtype))

    def one(t: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> None:
        t[i] = v

    def two(t: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> None:
        t[i, i] = v[0]

    def apart(t: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> None:
        t[i, :, i] = v[:, :, 0]

    def masked(t: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> None:
        t[i > 0] = v[:2]

    def number(t: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> None:
        t[:, i > 0] = 1

    def scalar(t: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> None:
        t[i, 0, i] = 1

    v = make((4, 4, 5), dtype, seed=1)
    for write in (one, two, apart, masked, number, scalar):
        check(write, x, I, v)


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.float16, torch.int64, torch.int32, torch.uint8],
)
def test_accumulate(dtype: torch.dtype) -> None:
    x = make((4, 5), dtype, low=0, high=3).round()
    v = make((6,), dtype, seed=1, low=0, high=3).round()
    i = torch.tensor([0, 0, 0, 3, 3, 1])
    j = torch.tensor([1, 1, 2, 4, 4, 0])
    check(
        lambda t, a, b, c: t.index_put_((a, b), c, accumulate=True), x, i, j, v
    )
    check(lambda t, a, c: t.index_put_((a,), c, accumulate=True), x, i, v[:5])
    check(
        lambda t, a, b, c: t.index_put((a, b), c), x, i[2:5:2], j[2:5:2], v[:2]
    )


def test_edge_shapes() -> None:
    check(
        lambda t: t[torch.zeros(3, dtype=torch.long, device=t.device)],
        make((1, 0, 2)),
    )
    check(lambda t: t[..., None][t > 0], make((3, 4)))
    check(lambda t: t[t > 100], make((3, 4)))
    check(lambda t: t[torch.tensor(True, device=t.device)], make((3,)))
    check(
        lambda t: t.index_put_((torch.tensor([1]),), t.new_ones(())), make((3,))
    )


def test_index_on_the_cpu() -> None:
    x = make((4, 5))
    got = x.to("webgpu")[torch.tensor([1, 3])]
    assert torch.equal(got.cpu(), x[[1, 3]])


def test_gradients() -> None:
    x = make((4, 4, 5))
    for read in ("one", "two", "broadcast", "apart", "mask of rows"):
        check(READS[read], x, I, J, grad=True)


def test_errors() -> None:
    x = torch.ones(2, 3, device="webgpu")
    i = torch.tensor([0, 1], device="webgpu")
    with pytest.raises(IndexError, match="too many indices"):
        x[i, i, i]
    with pytest.raises(IndexError, match="shape mismatch"):
        x[i, torch.tensor([0, 1, 2], device="webgpu")]
    with pytest.raises(IndexError, match="mask"):
        x[torch.ones(3, dtype=torch.bool, device="webgpu")]
