"""cat and stack: any dtype, any layout, many inputs."""

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
]


def join(dim: int, *parts: torch.Tensor) -> torch.Tensor:
    return torch.cat(parts, dim)


def values(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    if dtype.is_complex:
        return make(shape).to(dtype)
    return make(shape, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_dtypes(dim: int, dtype: torch.dtype) -> None:
    x = values((3, 5, 7), dtype)
    check(join, dim, x, x, x)
    check(join, dim, x.narrow(dim, 0, 1), x, x.narrow(dim, 0, 0))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.float16])
def test_layouts(layout: str, dtype: torch.dtype) -> None:
    x = LAYOUTS[layout](make((3, 5), dtype))
    check(join, 0, x, make((2, 5), dtype))
    check(join, 1, x, x)


def test_promotion() -> None:
    check(join, 0, make((3,), torch.int8), make((2,)), make((1,), torch.half))
    check(join, 0, make((3,), torch.bool), make((2,), torch.uint8))


def test_empty_inputs() -> None:
    x = make((3, 4))
    check(join, 0, torch.empty(0), x)
    check(join, 1, x, torch.empty(0), x)
    check(join, 0, torch.empty(0), torch.empty(0))
    check(join, 0, torch.empty(0, 4), x)
    check(join, 0, torch.empty(0, 4), torch.empty(0, 4))


def test_many_inputs() -> None:
    x = make((100, 3))
    check(lambda t: torch.cat([t[i : i + 1] for i in range(100)]), x)
    check(lambda t: torch.stack([t[:, 0], t[:, 1], t[:, 2]], 1), x)
    check(lambda t: torch.cat(t.split(7), 0), x)


def test_out() -> None:
    x = make((3, 4))
    check(lambda t: torch.cat([t, t], out=t.new_empty(0)), x)
    check(lambda t: torch.cat([t, t], out=t.new_empty(4, 6).t()), x)

    # The CPU refuses this one.
    y = make((4, 2))
    z = y.to("webgpu")
    torch.cat([z[2:4], z[0:2]], out=z)
    assert torch.equal(z.cpu(), torch.cat([y[2:4], y[0:2]]))
    check(lambda t: torch.cat([t, t], out=t.new_empty(6, 4).half()), x)


def test_gradients() -> None:
    check(join, 1, make((3, 4)), make((3, 2), seed=1), grad=True)
    check(lambda a, b: torch.stack([a, b]), make((3,)), make((3,)), grad=True)


def test_errors() -> None:
    x = torch.ones(2, 3, device="webgpu")
    with pytest.raises(RuntimeError, match=r"Sizes|sizes"):
        torch.cat([x, x.t()])
    with pytest.raises(RuntimeError, match="dimensions"):
        torch.cat([x, x[None]])
