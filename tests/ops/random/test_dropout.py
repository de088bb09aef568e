"""Dropout: what is kept, by what it is scaled, and the gradients."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.ops.against_cpu import check, make
from tests.ops.random import philox

WEBGPU = torch.webgpu  # type: ignore[attr-defined]

pytestmark = pytest.mark.usefixtures("no_fallbacks")

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
SEED = 77


def kept(count: int, p: float) -> torch.Tensor:
    return philox.bits(count, SEED) < round((1 - p) * 2**32)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_native_dropout(dtype: torch.dtype, p: float) -> None:
    x = make((123, 457), dtype)
    torch.manual_seed(SEED)
    y, mask = torch.native_dropout(x.to("webgpu"), p, True)
    want = kept(x.numel(), p).view(x.shape)
    assert torch.equal(mask.cpu(), want)
    torch.testing.assert_close(y.cpu(), x * want * (1 / (1 - p)))
    share = mask.float().mean().item()
    assert abs(share - (1 - p)) < 4 * math.sqrt(p * (1 - p) / x.numel())


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_ends(p: float) -> None:
    x = torch.tensor([1.0, -2.0, math.inf, math.nan])
    for train in (True, False, None):
        check(torch.native_dropout, x, p, train)
    check(F.dropout, x, p, True)
    check(F.dropout, x, 0.5, False)


@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_probability_out_of_range(p: float) -> None:
    x = torch.ones(3, device="webgpu")
    with pytest.raises(RuntimeError, match="between 0 and 1, but got"):
        torch.native_dropout(x, p, True)


@pytest.mark.parametrize("dtype", FLOATS)
def test_gradient(dtype: torch.dtype) -> None:
    x = make((9, 31), dtype).to("webgpu").requires_grad_()
    y = F.dropout(x, 0.25)
    weight = make((9, 31), dtype, seed=1).to("webgpu")
    (grad,) = torch.autograd.grad(y, x, weight)
    mask = (y != 0) | (x == 0)
    want = weight.cpu() * mask.cpu() / 0.75
    torch.testing.assert_close(grad.cpu(), want.to(dtype))


def test_gradient_of_the_gradient() -> None:
    x = torch.linspace(1, 2, 64, device="webgpu").requires_grad_()
    y = F.dropout(x * x, 0.5)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    torch.testing.assert_close(second, (y != 0) * 4.0)


def test_backward_of_strided_tensors() -> None:
    grad, mask = make((6, 8)).t(), make((8, 6), torch.bool)
    check(torch.ops.aten.native_dropout_backward, grad, mask, 2.0)
    check(torch.ops.aten.native_dropout_backward, grad[::2], mask[1::2], 2.0)


def test_layouts() -> None:
    def dropped(x: torch.Tensor) -> torch.Tensor:
        y, mask = torch.native_dropout(x, 0.5, True)
        assert torch.equal(y.ne(0), mask)
        assert torch.equal(y, x * mask * 2)
        return y

    x = torch.ones(2, 3, 4, 5)
    check(dropped, x, values=False)
    check(dropped, x.to(memory_format=torch.channels_last), values=False)
    check(dropped, x[:, ::2, 1:], values=False)
    check(dropped, x.bfloat16().flatten()[1:], values=False)
    check(dropped, x[0, 0, 0, 0], values=False)
    check(dropped, x[:0], values=False)
    check(dropped, x[:1].expand(3, 3, 4, 5), values=False)


def test_large(binding_limit: int) -> None:
    count = binding_limit // 4 + 4096
    torch.manual_seed(SEED)
    x = torch.ones(count, device="webgpu")
    y, mask = torch.native_dropout(x, 0.5, True)
    # The two halves meet at the second.
    for begin in (
        0,
        count // 2 - 32,
        binding_limit // 4 - 32,
        count - 64,
    ):
        want = philox.bits(64, SEED, begin // 4) < 2**31
        part = slice(begin, begin + 64)
        assert torch.equal(mask[part].cpu(), want), begin
        assert torch.equal(y[part].cpu(), want * 2.0), begin
    assert abs(mask.float().mean().item() - 0.5) < 1e-3
    del x, y, mask
    WEBGPU.empty_cache()


MODULES: dict[str, tuple[nn.Module, tuple[int, ...]]] = {
    "Dropout": (nn.Dropout(0.4), (16, 32)),
    "Dropout1d": (nn.Dropout1d(0.4), (16, 32, 5)),
    "Dropout2d": (nn.Dropout2d(0.4), (16, 32, 3, 2)),
    "Dropout3d": (nn.Dropout3d(0.4), (16, 32, 2, 2, 2)),
    "AlphaDropout": (nn.AlphaDropout(0.4), (16, 32)),
    "FeatureAlphaDropout": (nn.FeatureAlphaDropout(0.4), (16, 32, 3, 2)),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str) -> None:
    module, shape = MODULES[name]
    x = torch.ones(shape, device="webgpu", requires_grad=True)
    y = module.train()(x)
    y.sum().backward()
    assert x.grad is not None
    dropped = y < 1
    share = dropped.float().mean().item()
    assert abs(share - 0.4) < 4 * math.sqrt(0.24 / 512)
    assert torch.equal(x.grad == 0, dropped)
    if "Alpha" not in name:
        torch.testing.assert_close(y.detach(), ~dropped / 0.6)
    if len(shape) > 2:  # whole channels
        channels = y.detach().flatten(2)
        assert torch.equal(channels.amin(2), channels.amax(2))
    assert torch.equal(module.eval()(x), x)


def test_in_place() -> None:
    x = torch.ones(4096, device="webgpu")
    assert F.dropout(x, 0.5, inplace=True) is x
    assert sorted(set(x.tolist())) == [0.0, 2.0]


def test_one_dispatch_each_way() -> None:
    def dispatches() -> int:
        WEBGPU.synchronize()
        return int(WEBGPU.stats()["dispatches"])

    x = torch.ones(4096, device="webgpu", requires_grad=True)
    grad = torch.ones(4096, device="webgpu")
    begin = dispatches()
    y = F.dropout(x)
    middle = dispatches()
    torch.autograd.grad(y, x, grad)
    assert (middle - begin, dispatches() - middle) == (1, 1)
