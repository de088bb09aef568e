"""Indices out of range: IndexError at the next readback or synchronize."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.ops.against_cpu import check

SIZE = 4
WEBGPU = torch.webgpu  # type: ignore[attr-defined]


def table() -> torch.Tensor:
    return torch.arange(3.0 * SIZE, device="webgpu").view(SIZE, 3)


def long(*values: int) -> torch.Tensor:
    return torch.tensor(values, device="webgpu")


# Operator → (call with an index, whether negative indices count from the end)
CALLS: dict[str, tuple[Callable[[torch.Tensor], object], bool]] = {
    "index": (lambda i: table()[i], True),
    "index of two": (lambda i: table()[i, i.clamp(0, 2)], True),
    "index_put": (lambda i: table().index_put_((i,), long(1).float()), True),
    "take": (lambda i: table()[:, 0].contiguous().take(i), True),
    "put_": (lambda i: table()[:, 0].clone().put_(i, i.float()), True),
    "index_fill_": (lambda i: table().index_fill_(0, i, 1), True),
    "index_select": (lambda i: table().index_select(0, i), False),
    "gather": (lambda i: table().gather(0, i.view(-1, 1)), False),
    "scatter": (lambda i: table().scatter_(0, i.view(-1, 1), 1.0), False),
    "scatter_add": (
        lambda i: table().scatter_add_(0, i.view(-1, 1), table()),
        False,
    ),
    "index_add": (
        lambda i: table().index_add_(0, i, table()[: i.numel()]),
        False,
    ),
    "index_copy": (
        lambda i: table().index_copy_(0, i, table()[: i.numel()]),
        False,
    ),
    "embedding": (
        lambda i: torch.nn.functional.embedding(i, table()),
        False,
    ),
}


@pytest.fixture(autouse=True)
def nothing_pending() -> None:
    WEBGPU.synchronize()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("index", [SIZE, -SIZE - 1, 2**40, -(2**40), 2**31])
def test_out_of_range_raises(name: str, index: int) -> None:
    call, _ = CALLS[name]
    call(long(1, index))
    message = f"index {index} is out of bounds .* size {SIZE}"
    with pytest.raises(IndexError, match=message):
        WEBGPU.synchronize()


@pytest.mark.parametrize("name", CALLS)
def test_negative_indices(name: str) -> None:
    call, wraps = CALLS[name]
    call(long(-1, 0))
    if wraps:
        WEBGPU.synchronize()
    else:
        with pytest.raises(IndexError, match="index -1 is out of bounds"):
            WEBGPU.synchronize()


@pytest.mark.parametrize("name", CALLS)
def test_good_indices(name: str) -> None:
    call, _ = CALLS[name]
    call(long(0, SIZE - 2))
    WEBGPU.synchronize()


def test_message_names_operator() -> None:
    table().index_select(0, long(7))
    with pytest.raises(IndexError, match="index_select: index 7 "):
        WEBGPU.synchronize()


def test_int32_index() -> None:
    table().index_select(0, long(-9).int())
    with pytest.raises(IndexError, match="index -9 is out of bounds"):
        WEBGPU.synchronize()


@pytest.mark.parametrize(
    "read", [torch.Tensor.cpu, torch.Tensor.tolist, lambda x: x[0, 0].item()]
)
def test_readback_raises(read: Callable[[torch.Tensor], object]) -> None:
    picked = table()[long(SIZE)]
    with pytest.raises(IndexError, match="out of bounds"):
        read(picked)


def test_device_works_after_a_report() -> None:
    table()[long(SIZE)]
    with pytest.raises(IndexError):
        WEBGPU.synchronize()
    assert table()[long(1)].tolist() == [[3.0, 4.0, 5.0]]
    table()[long(SIZE + 1)]
    with pytest.raises(IndexError, match=f"index {SIZE + 1} "):
        WEBGPU.synchronize()


def test_other_elements_are_right() -> None:
    """What lies outside reads as zero and is never written."""
    picked = table().index_select(0, long(1, SIZE, 2))
    filled = table().index_fill_(0, long(SIZE), 9.0)
    scattered = table().scatter_(0, long(1, SIZE).view(2, 1), 9.0)
    with pytest.raises(IndexError):
        WEBGPU.synchronize()
    assert picked.tolist() == [[3.0, 4.0, 5.0], [0.0] * 3, [6.0, 7.0, 8.0]]
    assert torch.equal(filled, table())
    assert scattered[:2].tolist() == [[0.0, 1.0, 2.0], [9.0, 4.0, 5.0]]
    assert torch.equal(scattered[2:], table()[2:])


def test_padding_of_an_embedding_is_no_fault() -> None:
    def embed(rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.embedding(rows, weight, padding_idx=0)

    check(embed, torch.tensor([0, 2, 0]), torch.rand(3, 2), grad=True)
    WEBGPU.synchronize()
