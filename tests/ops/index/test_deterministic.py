"""torch.use_deterministic_algorithms: indexed writes happen in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from tests.ops.against_cpu import check, make

COUNT = 50_000  # enough that threads meet in every place
PLACES = 7


@pytest.fixture(autouse=True)
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def places() -> Tensor:
    return make((COUNT,), torch.int64, low=0, high=PLACES - 1)


def embedding_gradient(x: Tensor, index: Tensor) -> Tensor:
    weight = torch.zeros(PLACES, 2, device=x.device, requires_grad=True)
    torch.nn.functional.embedding(index, weight).backward(x)
    assert weight.grad is not None
    return weight.grad


def zeros(x: Tensor) -> Tensor:
    return torch.zeros(PLACES, 2, dtype=x.dtype, device=x.device)


SUMS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "index_add": lambda x, i: zeros(x).index_add(0, i, x),
    "scatter_add": lambda x, i: zeros(x).scatter_add(
        0, i[:, None].expand(-1, 2), x
    ),
    "index_put": lambda x, i: zeros(x).index_put((i,), x, accumulate=True),
    "embedding": embedding_gradient,
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_are_rounded_alike(name: str, no_fallbacks: None) -> None:
    x, index = make((COUNT, 2)), places()
    want = torch.zeros(PLACES, 2)
    for place in range(PLACES):
        want[place] = x[index == place].double().sum(0)
    x, index = x.to("webgpu"), index.to("webgpu")
    first = SUMS[name](x, index).cpu()
    for _ in range(5):
        assert torch.equal(SUMS[name](x, index).cpu(), first)
    torch.testing.assert_close(first, want, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.int64, torch.int16, torch.bool, torch.complex128],
    ids=str,
)
def test_the_last_assignment_stays(dtype: torch.dtype) -> None:
    values = torch.arange(COUNT).remainder(251).to(dtype)
    index = places()
    want = torch.zeros(PLACES, dtype=dtype)
    for place in range(PLACES):
        want[place] = values[index == place][-1]
    device = torch.zeros(PLACES, dtype=dtype, device="webgpu")
    device[index.to("webgpu")] = values.to("webgpu")
    assert torch.equal(device.cpu(), want)


def test_other_layouts_and_dimensions() -> None:
    x = make((3, 40, 5)).transpose(0, 2)
    index = make((40,), torch.int64, low=0, high=3)
    check(lambda x, i: torch.zeros_like(x).index_add(1, i, x), x, index)
    rows = make((5, 40, 3), torch.int64, low=0, high=39)
    check(lambda x, i: torch.zeros_like(x).scatter(1, i, x), x, rows)
    pair = (
        make((9,), torch.int64, low=0, high=4),
        make((9,), torch.int64, low=-40, high=39),
    )
    check(
        lambda x, a, b: x.clone().index_put_((a, b), x[0, :9], accumulate=True),
        x,
        *pair,
    )
