"""Every module of torch's own test database: forward, backward and buffers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from _pytest.mark import ParameterSet
from torch.nn.parameter import is_lazy
from torch.testing._internal.common_modules import ModuleInfo, module_db

from tests.conformance.core import DEFAULT_TOLERANCE, Tolerance
from tests.ops.against_cpu import check

# Modules of which a part still runs on the CPU. Strict: what has come to run on
# the device alone fails until its name is taken out.
FALL_BACK = {
    *(
        f"nn.{kind}{n}d"
        for n in (1, 2, 3)
        for kind in (
            "AdaptiveAvgPool",
            "AdaptiveMaxPool",
            "AvgPool",
            "BatchNorm",
            "Conv",
            "ConvTranspose",
            "InstanceNorm",
            "LPPool",
            "LazyConv",
            "LazyConvTranspose",
            "MaxPool",
            "ReflectionPad",
            "ReplicationPad",
        )
    ),
    "nn.CTCLoss",
    "nn.LocalResponseNorm",
    "nn.MultiLabelMarginLoss",
    "nn.MultiMarginLoss",
}

# Dozens of operators one after the other, each of which rounds.
DEEP = dict.fromkeys(
    ["nn.Transformer", "nn.TransformerDecoderLayer"], Tolerance(rtol=1e-5)
)
# Thousands of rows meet in a few places: in another order than the CPU's their
# sums are rounded apart by more than the tolerance.
ORDERED = {"nn.Embedding"}
RANDOM = {"nn.RReLU"}
# The samples' numbers are float64, and torch wants them in the input's dtype.
SAMPLES_OF_OTHER_DTYPES = {"nn.FractionalMaxPool2d", "nn.FractionalMaxPool3d"}


def modes() -> Iterator[ParameterSet]:
    for info in module_db:
        if info.name in SAMPLES_OF_OTHER_DTYPES:
            continue
        yield pytest.param(info, True, id=f"{info.name}-train")
        if info.train_and_eval_differ:
            yield pytest.param(info, False, id=f"{info.name}-eval")


def drop_nothing(module: torch.nn.Module) -> None:
    """The devices draw other numbers than the CPU."""
    for part in module.modules():
        if isinstance(part, torch.nn.modules.dropout._DropoutNd):
            part.p = 0.0
        elif isinstance(getattr(part, "dropout", None), float):
            part.dropout = 0.0


def check_module(
    kind: str, module: torch.nn.Module, args: Any, kwargs: Any
) -> dict[str, int]:
    """Device against CPU; returns what fell back."""
    if any(is_lazy(parameter) for parameter in module.parameters()):
        module(*args, **kwargs)
    drop_nothing(module)
    parameters = dict(module.named_parameters())
    state = {
        name: value.detach().clone().requires_grad_(name in parameters)
        for name, value in module.state_dict().items()
    }

    def call(state: Any, args: Any, kwargs: Any) -> Any:
        return torch.func.functional_call(module, state, args, kwargs)

    return check(
        call,
        state,
        args,
        kwargs,
        grad=True,
        values=kind not in RANDOM,
        tolerance=DEEP.get(kind, DEFAULT_TOLERANCE),
        allow_fallbacks=True,
    )


@pytest.fixture
def order() -> Iterator[None]:
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.usefixtures("order")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("info", "training"), list(modes()))
def test_module(info: ModuleInfo, training: bool) -> None:
    torch.use_deterministic_algorithms(info.name in ORDERED)
    fell_back: dict[str, int] = {}
    samples = info.module_inputs_func(
        info,
        device="cpu",
        dtype=torch.float32,
        requires_grad=True,
        training=training,
    )
    for sample in samples:
        torch.manual_seed(0)
        made = sample.constructor_input
        module = info.module_cls(*made.args, **made.kwargs).train(training)
        given = sample.forward_input
        fell_back |= check_module(info.name, module, given.args, given.kwargs)
    if info.name in FALL_BACK:
        assert fell_back, f"{info.name} runs on the device now"
    else:
        assert not fell_back
