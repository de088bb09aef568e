"""Modules that move keep what refers to their parameters."""

from __future__ import annotations

import weakref

import pytest
import torch
from torch import nn


def test_shared_weights_stay_shared() -> None:
    embedding, head = nn.Embedding(4, 3), nn.Linear(3, 4, bias=False)
    head.weight = embedding.weight
    model = nn.Sequential(embedding, head).to("webgpu")
    assert head.weight is embedding.weight and head.weight.is_webgpu
    assert len(list(model.parameters())) == 1
    model.cpu()
    assert head.weight is embedding.weight and not head.weight.is_webgpu


def test_an_optimizer_made_before_trains_the_moved_module() -> None:
    module = nn.Linear(3, 2, bias=False)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
    before = module.weight.detach().clone()
    module.to("webgpu")
    module(torch.ones(1, 3, device="webgpu")).sum().backward()
    optimizer.step()
    assert torch.equal(module.weight.cpu(), before - 0.5)


def test_gradients_attributes_and_hooks_stay() -> None:
    module, calls = nn.Linear(3, 2), []
    weight = module.weight
    weight.requires_grad_()
    weight.tag = "kept"  # type: ignore[attr-defined]
    handle = weight.register_hook(lambda _: calls.append("hook"))
    weight.register_post_accumulate_grad_hook(lambda _: calls.append("after"))
    module(torch.ones(1, 3)).sum().backward()
    calls.clear()
    module.webgpu()
    assert module.weight is weight and type(weight) is nn.Parameter
    assert weight.tag == "kept"  # type: ignore[attr-defined]
    assert weight.grad is not None and weight.grad.tolist() == [[1.0] * 3] * 2
    assert weight.grad.is_webgpu
    x = torch.ones(1, 3, device="webgpu")
    module(x).sum().backward()
    assert calls == ["hook", "after"]
    assert weight.grad.tolist() == [[2.0] * 3] * 2
    handle.remove()
    module(x).sum().backward()
    assert calls == ["hook", "after", "after"]


def test_frozen_stays_frozen() -> None:
    module = nn.Linear(3, 2).requires_grad_(False).webgpu()
    assert not module.weight.requires_grad


def test_lazy_modules_move_before_they_know_their_shape() -> None:
    module = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d()).webgpu()
    assert module(torch.ones(2, 4, device="webgpu")).shape == (2, 3)
    assert type(module[0].weight) is nn.Parameter
    assert module[0].weight.shape == (3, 4) and module[0].weight.is_webgpu


def test_recurrent_modules_use_the_moved_weights() -> None:
    module = nn.LSTM(3, 4).webgpu()
    assert module._flat_weights[0] is module.weight_ih_l0
    assert module(torch.ones(2, 1, 3, device="webgpu"))[0].is_webgpu


def test_a_parameter_that_cannot_be_kept_is_named() -> None:
    module = nn.Linear(3, 2)
    seen_elsewhere = weakref.ref(module.weight)
    with pytest.warns(UserWarning, match=r"Linear\.weight is a new Parameter"):
        module.webgpu()
    assert module.weight.is_webgpu and seen_elsewhere() is not module.weight


def test_other_devices_are_left_alone() -> None:
    module = nn.Linear(3, 2)
    weight = module.weight
    assert module.double().weight is weight
    empty = nn.Linear(3, 2, device="meta").to_empty(device="webgpu")
    assert empty.weight.is_webgpu and empty.weight.shape == (2, 3)
