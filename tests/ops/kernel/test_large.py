"""Tensors above the device's binding limit: one buffer, several bindings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.ops.against_cpu import check

LIMIT = torch.webgpu.adapter_info()["limits"]["max_storage_binding_size"]  # type: ignore[attr-defined]
SIDE = int((LIMIT / 4) ** 0.5) + 100  # a square float32 matrix above the limit

pytestmark = pytest.mark.skipif(
    LIMIT > 512 << 20,
    reason=f"one binding holds {LIMIT} bytes: too large to test",
)


@pytest.fixture(autouse=True)
def small_reserve() -> object:
    """Nothing of this size stays reserved for the tests after it."""
    yield
    torch.webgpu.empty_cache()  # type: ignore[attr-defined]


def matrix(dtype: torch.dtype = torch.int32) -> torch.Tensor:
    """Different values everywhere, also across the limit."""
    count = torch.arange(SIDE * SIDE, dtype=torch.int32)
    return (count % 1000003).to(dtype).view(SIDE, SIDE)


def both_triangles(x: torch.Tensor) -> torch.Tensor:
    return x + x.t()


def written_transposed(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    y.t().copy_(x)
    return y


def filled_every_second(x: torch.Tensor) -> torch.Tensor:
    x[:, 1::2].fill_(-7)
    return x


POINTWISE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "dense": lambda x: x + x,
    "scalar": lambda x: x * 3,
    "in place": lambda x: x.add_(1),
    "one row for all": lambda x: x - x[-1],
    "one column for all": lambda x: x - x[:, :1],
    "transposed": both_triangles,
    "every second column": lambda x: x[:, ::2] + 1,
    "the last rows only": lambda x: x[-3:] * 2,
    "cast": lambda x: x.to(torch.int16),
    "predicate": lambda x: x > 500000,
    "where": lambda x: torch.where(x > 5, x, -x),
    "strided output": written_transposed,
    "strided fill": filled_every_second,
}


@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise(name: str) -> None:
    check(POINTWISE[name], matrix())


def test_bytes_across_the_limit() -> None:
    """The limit lies inside of words that several elements share."""
    x = torch.zeros(LIMIT + 4099, dtype=torch.uint8)
    check(lambda x: x[3:].add_(1), x)


def test_more_memory_than_all_bindings_together() -> None:
    """Three tensors that no kernel could bind whole, even in windows."""
    limits = torch.webgpu.adapter_info()["limits"]  # type: ignore[attr-defined]
    count = min(limits["max_buffer_size"], 6 * LIMIT) // 4
    x = torch.arange(count, dtype=torch.int32, device="webgpu")
    z = x + x.sub(5)
    for begin in (0, LIMIT // 4 - 2, count // 2, count - 4):
        want = torch.arange(begin, begin + 4, dtype=torch.int32)
        assert torch.equal(z[begin : begin + 4].cpu(), want + want - 5)


OTHERS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum of all": lambda x: x.sum(),
    "sum of rows": lambda x: x.sum(1),
    "sum of columns": lambda x: x.sum(0),
    "maximum of rows": lambda x: x.amax(1),
    "cumsum": lambda x: x.cumsum(1),
    "cat": lambda x: torch.cat([x[:5], x]),
    "rows by index": lambda x: x.index_select(
        0, torch.tensor([SIDE - 1, 0, SIDE // 2], device=x.device)
    ),
    "flip": lambda x: x.flip(0),
    "triu": lambda x: x.triu(),
    "nonzero": lambda x: (x == 77).nonzero(),
}


@pytest.mark.parametrize("name", OTHERS)
def test_others(name: str) -> None:
    check(OTHERS[name], matrix())


FLOATS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "softmax": lambda x: x.softmax(1),
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, (SIDE,)),
    "matmul": lambda x: x @ x[:, -3:],
}


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str) -> None:
    check(FLOATS[name], torch.rand(SIDE, SIDE))


def test_small_views_of_a_large_storage() -> None:
    """Operands of one kernel far apart in buffers that no binding holds."""
    device = torch.device("webgpu")
    storage = torch.zeros(3 * LIMIT // 4, device=device)
    weight, bias = storage[-64:], storage[LIMIT // 4 - 32 : LIMIT // 4 + 32]
    weight.copy_(torch.linspace(0.5, 1.5, 64))
    bias.copy_(torch.linspace(-1, 1, 64))
    x = torch.randn(5, 64)
    norm = torch.nn.functional.layer_norm
    got = norm(x.to(device), (64,), weight, bias)
    torch.testing.assert_close(
        got.cpu(), norm(x, (64,), weight.cpu(), bias.cpu())
    )
    torch.testing.assert_close((x.to(device) @ weight).cpu(), x @ weight.cpu())
    torch.testing.assert_close(weight.sum().cpu(), weight.cpu().sum())


def test_rows_that_need_more_bindings_than_there_are() -> None:
    limits = torch.webgpu.adapter_info()["limits"]  # type: ignore[attr-defined]
    columns = 1 << 14
    rows = (limits["max_storage_buffers"] * LIMIT // 2 + LIMIT) // 4 // columns
    if rows * columns * 4 > limits["max_buffer_size"]:
        pytest.skip("the adapter binds as much as a buffer holds")
    x = torch.empty(rows, columns, device="webgpu").uniform_()
    y = x.softmax(1)
    for row in (0, rows // 3, rows // 2, rows - 1):
        torch.testing.assert_close(y[row].cpu(), x[row].cpu().softmax(0))
    del y
    weight = torch.rand(columns)
    z = torch.nn.functional.layer_norm(x, (columns,), weight.to("webgpu"))
    for row in (0, rows // 3, rows // 2, rows - 1):
        want = torch.nn.functional.layer_norm(x[row].cpu(), (columns,), weight)
        torch.testing.assert_close(z[row].cpu(), want)


def test_embedding() -> None:
    rows = torch.tensor([0, SIDE - 1, SIDE // 2, SIDE - 1])
    table = matrix(torch.float32)
    check(torch.nn.functional.embedding, rows, table)
