"""Activations: what torch's samples leave out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F

from tests.ops.against_cpu import check, make

EDGES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 6.0, 20.0, 21.0, -30.0]
EXTREMES = [90.0, -90.0, 1e4, -1e4, float("nan"), 1e-30]

CALLS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": F.relu,
    "relu6": F.relu6,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "elu": lambda x: F.elu(x, 1.5),
    "selu": F.selu,
    "celu": lambda x: F.celu(x, 0.7),
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "mish": F.mish,
    "softplus": lambda x: F.softplus(x, beta=2.0, threshold=10.0),
    "hardtanh": lambda x: F.hardtanh(x, -0.5, 3.0),
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "hardshrink": F.hardshrink,
    "softshrink": F.softshrink,
    "threshold": lambda x: F.threshold(x, 0.5, -2.0),
    "logsigmoid": F.logsigmoid,
    "tanhshrink": F.tanhshrink,
    "softsign": F.softsign,
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16]
)
def test_edges(name: str, dtype: torch.dtype) -> None:
    """The places where an activation bends, and its far ends."""
    check(CALLS[name], torch.tensor(EDGES, dtype=dtype), grad=True)
    check(CALLS[name], torch.tensor(EXTREMES, dtype=dtype), grad=True)


@pytest.mark.parametrize("name", sorted(set(CALLS) - {"gelu"}))
def test_infinity(name: str) -> None:
    """But for gelu, of which the CPU says NaN in some places of a vector."""
    check(CALLS[name], torch.tensor([float("inf"), float("-inf")]))


@pytest.mark.parametrize("name", CALLS)
def test_layouts(name: str) -> None:
    """The gradient has the argument's memory format, dense or not."""
    check(CALLS[name], make((3, 5, 4)).permute(2, 0, 1), grad=True)
    check(CALLS[name], make((9, 7))[1::2, ::3], grad=True)
    check(CALLS[name], make((0, 3)), grad=True)


IN_PLACE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu_": torch.relu_,
    "hardtanh_": lambda x: F.hardtanh_(x, -2.0, 2.0),
    "hardswish_": lambda x: F.hardswish(x, inplace=True),
    "leaky_relu_": F.leaky_relu_,
    "elu_": F.elu_,
    "silu_": lambda x: F.silu(x, inplace=True),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_on_a_view(name: str) -> None:
    check(lambda x: IN_PLACE[name](x[:, 1:3]), make((4, 5)))


@pytest.mark.parametrize(
    "dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
)
def test_integers(dtype: torch.dtype) -> None:
    x = make((3, 7), dtype)
    check(F.relu, x)
    check(lambda y: F.threshold(y, 5, 3), x)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_glu(dim: int, dtype: torch.dtype) -> None:
    check(lambda x: F.glu(x, dim), make((4, 6, 2), dtype), grad=True)


def test_prelu() -> None:
    x = make((2, 3, 5))
    check(F.prelu, x, make((3,), seed=1), grad=True)
    check(F.prelu, x.transpose(0, 2), make((1,), seed=1), grad=True)


def test_unknown_approximation() -> None:
    with pytest.raises(RuntimeError, match=r"'none' or 'tanh'.*'sigmoid'"):
        F.gelu(make((2,)).to("webgpu"), approximate="sigmoid")
