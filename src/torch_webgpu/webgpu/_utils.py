"""Device arguments, as torch's own helpers expect them (torch.load does)."""

from __future__ import annotations

from typing import Any, TypeAlias

import torch

DeviceLike: TypeAlias = "torch.device | str | int | None"


def _get_device_index(
    device: Any, optional: bool = False, allow_cpu: bool = False
) -> int:
    """The index of a device given as index, string, torch.device or None."""
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if allow_cpu and device.type == "cpu":
            return -1
        if device.type != "webgpu":
            raise ValueError(
                f"webgpu: expected a webgpu device, got {device}; pass "
                "'webgpu' or 0."
            )
        device = device.index
    if device is None:
        return 0
    if device not in (0, -1):
        raise ValueError(
            f"webgpu: there is one device, webgpu:0, got index {device}; "
            "choose its adapter with TORCH_WEBGPU_ADAPTER."
        )
    return 0
