"""Losses: what torch's samples leave out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch.nn import functional as F

from tests.ops.against_cpu import check, make

REDUCTIONS = ["none", "mean", "sum"]
LOSSES: dict[str, Callable[..., torch.Tensor]] = {
    "mse": F.mse_loss,
    "l1": F.l1_loss,
    "smooth_l1": partial(F.smooth_l1_loss, beta=2.0),
    "huber": partial(F.huber_loss, delta=1.5),
    "bce": F.binary_cross_entropy,
    "bce_with_logits": F.binary_cross_entropy_with_logits,
    "kl_div": F.kl_div,
}


@pytest.mark.filterwarnings("ignore:reduction")  # kl_div's mean
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_layouts(name: str, reduction: str, dtype: torch.dtype) -> None:
    def loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return LOSSES[name](a, b, reduction=reduction)

    a = make((6, 5), dtype, low=0.1, high=0.9)
    b = make((5, 6), dtype, seed=1, low=0.1, high=0.9)
    check(loss, a, b.t(), grad=True)
    check(loss, a[::2, 1:], b.t()[1::2, 1:], grad=True)
    check(loss, a[:0], b.t()[:0], grad=True)


@pytest.mark.parametrize("name", ["smooth_l1", "huber"])
def test_where_the_loss_bends(name: str) -> None:
    a = torch.tensor([0.0, 1.5, -1.5, 2.0, -2.0, 9.0, -9.0, 1e-20])
    check(LOSSES[name], a, torch.zeros(8), grad=True)


def test_certain_predictions() -> None:
    """The logarithms are bounded, so that the loss is finite."""
    a = torch.tensor([0.0, 1.0, 0.0, 1.0])
    b = torch.tensor([0.0, 1.0, 1.0, 0.0])
    check(F.binary_cross_entropy, a, b, reduction="none", grad=True)
    check(F.binary_cross_entropy, a, b, weight=torch.rand(4))


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((5,), ()),
    ((7, 5), (7,)),
    ((3, 5, 4), (3, 4)),
    ((3, 5, 2, 3), (3, 2, 3)),
    ((2, 5, 2, 3, 2), (2, 2, 3, 2)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16]
)
def test_nll_loss(
    shape: tuple[tuple[int, ...], tuple[int, ...]],
    reduction: str,
    weighted: bool,
    dtype: torch.dtype,
) -> None:
    weight = torch.rand(5, dtype=dtype) if weighted else None
    target = torch.randint(0, 5, shape[1])

    def loss(x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        w = weight.to(x) if weight is not None else None
        return F.nll_loss(
            x.log_softmax(min(1, x.dim() - 1)),
            t,
            w,
            ignore_index=2,
            reduction=reduction,
        )

    check(loss, make(shape[0], dtype), target, grad=True)


def test_cross_entropy_of_strided_logits() -> None:
    target = torch.tensor([1, 0, 3, -100, 2])
    check(F.cross_entropy, make((4, 5)).t(), target, grad=True)
    check(
        F.cross_entropy,
        make((4, 10)).t()[::2],
        target,
        label_smoothing=0.1,
        grad=True,
    )


def test_every_target_ignored() -> None:
    target = torch.full((3,), -100)
    check(F.cross_entropy, make((3, 4)), target, grad=True)
    check(F.cross_entropy, make((3, 4)), target, reduction="sum", grad=True)


def test_bytes_as_targets() -> None:
    x = make((3, 4)).log_softmax(1)
    check(F.nll_loss, x, torch.tensor([1, 0, 3], dtype=torch.uint8))


def test_class_out_of_range() -> None:
    x = make((3, 4)).to("webgpu")
    loss = F.cross_entropy(x, torch.tensor([1, 4, 0], device="webgpu"))
    with pytest.raises(IndexError, match=r"nll_loss: index 4 .* size 4"):
        loss.item()


def test_shapes_that_do_not_fit() -> None:
    x = make((2, 3, 4, 5)).to("webgpu")
    target = torch.zeros(2, 4, 4, dtype=torch.int64, device="webgpu")
    with pytest.raises(RuntimeError, match=r"\[2, 3, 4, 5\].*\[2, 4, 4\]"):
        F.nll_loss(x, target)
