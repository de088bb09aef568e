"""Every optimizer of torch's own test database trains as on the CPU."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch.testing._internal.common_optimizers import OptimizerInfo, optim_db

from tests.conformance import core

TOLERANCE = 1e-5
STEPS = 4
# One step of LBFGS is already twenty iterations, each of which amplifies the
# differences of rounding.
ITERATIONS = {"LBFGS": {"max_iter": 2}}


def network() -> torch.nn.Module:
    torch.manual_seed(core.SEED)
    return torch.nn.Sequential(
        torch.nn.Linear(5, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)
    )


def train(
    kind: type[torch.optim.Optimizer],
    network: torch.nn.Module,
    options: dict[str, Any],
    device: str,
) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(core.SEED)
    x = torch.randn(16, 5, generator=generator).to(device)
    y = torch.randn(16, 3, generator=generator).to(device)
    parameters = list(network.parameters())
    if kind.__name__ == "Muon":  # takes matrices only
        parameters = [p for p in parameters if p.dim() == 2]
    optimizer = kind(parameters, **options)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = (network(x) - y).square().mean()
        value.backward()
        return value

    for _ in range(STEPS):
        optimizer.step(loss)
    return [parameter.detach().cpu() for parameter in parameters]


def on(device: str, options: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.to(device) if isinstance(value, torch.Tensor) else value
        for name, value in options.items()
    }


# SparseAdam takes sparse gradients, a layout that the device does not have.
INFOS = [i for i in optim_db if i.optim_cls is not torch.optim.SparseAdam]
CASES = [
    pytest.param(info, options, id=f"{info.optim_cls.__name__}{options}")
    for info in INFOS
    for options in [{}, {"foreach": False}]
    if not options or "foreach" in info.supported_impls
]


@pytest.mark.parametrize(("info", "more"), CASES)
def test_optimizer(info: OptimizerInfo, more: dict[str, Any]) -> None:
    kind = info.optim_cls
    for sample in info.optim_inputs_func(device="cpu"):
        options = sample.kwargs | ITERATIONS.get(kind.__name__, {}) | more
        ours = network()
        theirs = copy.deepcopy(ours)
        fallbacks: dict[str, int] = {}
        with core.counting(core.DeviceFallbacks(), fallbacks):
            got = train(
                kind,
                ours.to(core.DEVICE),
                on(core.DEVICE, options),
                core.DEVICE,
            )
        core.assert_no_fallbacks(fallbacks)
        want = train(kind, theirs, options, "cpu")
        torch.testing.assert_close(got, want, rtol=TOLERANCE, atol=TOLERANCE)
