"""Modules keep their Parameter objects when they move to or from the device."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import torch


def keep_parameters() -> None:
    """Wraps torch.nn.Module._apply, which to(), cpu(), half() … end in.

    Between the devices of its own tree torch moves a parameter in place. For
    any other device it makes a new Parameter, so weights that two modules
    share would come apart and an optimizer that already exists would go on
    with the old ones. Here the old object takes over the new one's content.
    """
    apply = torch.nn.Module._apply

    @functools.wraps(apply)
    def _apply(
        self: torch.nn.Module, fn: Any, recurse: bool = True
    ) -> torch.nn.Module:
        before = [*self._parameters.items()]
        result = apply(self, fn, recurse)
        for name, old in before:
            new = self._parameters[name]
            if (
                old is not None
                and new is not None
                and new is not old
                and "webgpu" in (old.device.type, new.device.type)
            ):
                _take_over(self, name, old, new)
        return result

    torch.nn.Module._apply = _apply  # type: ignore[method-assign]
    # What a lazy module's parameter allows before it has a shape.
    allowed = torch.nn.parameter.UninitializedTensorMixin._allowed_methods
    allowed.append(torch.Tensor.webgpu)  # type: ignore[attr-defined]


def _take_over(
    module: torch.nn.Module,
    name: str,
    old: torch.nn.Parameter,
    new: torch.nn.Parameter,
) -> None:
    kind, attributes = type(old), dict(old.__dict__)
    hooks = old._backward_hooks
    later_hooks = old._post_accumulate_grad_hooks
    try:
        torch.utils.swap_tensors(old, new)
    except RuntimeError as error:
        warnings.warn(
            f"webgpu: {type(module).__name__}.{name} is a new Parameter on "
            f"{new.device} ({error}); create optimizers and share weights "
            "after the module has moved.",
            stacklevel=2,
        )
        return
    # Swapped too, but they belong to the object: a lazy module's parameter, for
    # example, is of a class of its own until the first forward.
    old.__class__ = kind
    old.__dict__.update(attributes)
    old._backward_hooks = hooks
    old._post_accumulate_grad_hooks = later_hooks
    module._parameters[name] = old
