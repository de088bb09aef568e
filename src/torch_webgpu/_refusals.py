"""One clear sentence where the device does not support a feature of torch.

Torch itself would go on and fail far away from the cause.
"""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions
from torch.utils import _pytree


def refuse() -> None:
    _refuse_other_processes()
    _refuse_inductor()


def _refuse_other_processes() -> None:
    """Tensors in the arguments or queues of torch.multiprocessing."""

    def reduce_tensor(tensor: torch.Tensor) -> Any:
        if tensor.device.type == "webgpu":
            raise RuntimeError(
                "webgpu: a tensor on the device cannot be sent to another "
                "process; send its .cpu() and move that with .to('webgpu') "
                "over there."
            )
        return reductions.reduce_tensor(tensor)

    for kind in (torch.Tensor, torch.nn.Parameter):
        ForkingPickler.register(kind, reduce_tensor)


def _refuse_inductor() -> None:
    """torch.compile's default backend, which has no code generator for us."""
    wrapper = torch._TorchCompileInductorWrapper
    call = wrapper.__call__

    def __call__(self: Any, model_: Any, inputs_: Any) -> Any:
        values = [n.meta.get("example_value") for n in model_.graph.nodes]
        if any(
            isinstance(value, torch.Tensor) and value.device.type == "webgpu"
            for value in _pytree.tree_leaves(values)
        ):
            raise NotImplementedError(
                "webgpu: torch.compile's backend 'inductor' generates no code "
                "for this device; pass backend='aot_eager'."
            )
        return call(self, model_, inputs_)

    wrapper.__call__ = __call__  # type: ignore[method-assign]
