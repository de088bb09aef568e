"""The device itself: presence, selection, properties, counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from torch_webgpu import _native
from torch_webgpu.webgpu._utils import DeviceLike, _get_device_index


def is_available() -> bool:
    """Whether an implementation and an adapter are there; never raises."""
    try:
        return bool(_native.load().available())
    except RuntimeError:
        return False


def unavailable_reason() -> str:
    """Why is_available() is False, with the remedy; "" if it is True."""
    try:
        return str(_native.load().unavailable_reason())
    except RuntimeError as error:
        return str(error)


def device_count() -> int:
    return 1 if is_available() else 0


def init() -> None:
    """Creates the device, which the first tensor does otherwise."""
    _native.load().create_device()


_lazy_init = init  # torch calls this before the first tensor


def is_initialized() -> bool:
    return _native.error() is None and bool(_native.load().device_created())


def _is_in_bad_fork() -> bool:
    return _native.error() is None and bool(_native.load().in_bad_fork())


def current_device() -> int:
    return 0


def set_device(device: DeviceLike) -> None:
    """There is one device; any other index is an error."""
    _get_device_index(device)


def _exchange_device(device: int) -> int:
    _get_device_index(device)
    return 0


def _maybe_exchange_device(device: int) -> int:
    return 0


class device:
    """Context manager that selects a device, of which there is one."""

    def __init__(self, device: DeviceLike) -> None:
        self.idx = _get_device_index(device)
        self.prev_idx = 0

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        pass


class device_of(device):
    """Selects the device of a tensor or storage; others are ignored."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device if obj.device.type == "webgpu" else None)


def can_device_access_peer(device: DeviceLike, peer_device: DeviceLike) -> bool:
    _get_device_index(device)
    _get_device_index(peer_device)
    return False


def synchronize(device: DeviceLike = None) -> None:
    """Waits for all work; raises what the GPU reported meanwhile."""
    _get_device_index(device)
    if is_initialized() or _is_in_bad_fork():
        _native.load().synchronize()


@dataclass(frozen=True)
class DeviceProperties:
    name: str
    vendor: str
    architecture: str
    backend: str
    adapter_type: str
    implementation: str
    total_memory: int  # bytes; 0 if the adapter does not tell
    max_buffer_size: int
    max_storage_binding_size: int
    max_workgroup_size: int
    max_workgroup_storage: int
    subgroup_min_size: int
    subgroup_max_size: int
    shader_f16: bool
    subgroups: bool


def get_device_properties(device: DeviceLike = None) -> DeviceProperties:
    _get_device_index(device)
    info = adapter_info()
    limits = info["limits"]
    return DeviceProperties(
        name=info["name"],
        vendor=info["vendor"],
        architecture=info["architecture"],
        backend=info["backend"],
        adapter_type=info["adapter_type"],
        implementation=info["implementation"],
        total_memory=_native.load().memory_limit(),
        max_buffer_size=limits["max_buffer_size"],
        max_storage_binding_size=limits["max_storage_binding_size"],
        max_workgroup_size=limits["max_workgroup_invocations"],
        max_workgroup_storage=limits["max_workgroup_storage"],
        subgroup_min_size=info["subgroup_min"],
        subgroup_max_size=info["subgroup_max"],
        shader_f16=info["shader_f16"],
        subgroups=info["subgroups"],
    )


def get_device_name(device: DeviceLike = None) -> str:
    _get_device_index(device)
    return str(adapter_info()["name"])


def get_device_capability(device: DeviceLike = None) -> dict[str, Any]:
    """The dtypes with native arithmetic, as torch.accelerator reports them."""
    _get_device_index(device)
    return torch.accelerator.get_device_capability("webgpu:0")


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.float16, torch.bfloat16]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """bfloat16 is stored as such and computed in float32."""
    return including_emulation


def implementation() -> str:
    """ "wgpu" or "dawn": the WebGPU implementation in use."""
    return str(adapter_info()["implementation"])


def adapter_info() -> dict[str, Any]:
    """Name, vendor, backend, features and limits of the adapter in use."""
    info: dict[str, Any] = _native.load().adapter_info()
    return info


def list_adapters() -> list[dict[str, Any]]:
    """All adapters that TORCH_WEBGPU_ADAPTER can choose, best first."""
    adapters: list[dict[str, Any]] = _native.load().list_adapters()
    return adapters


def stats() -> dict[str, int]:
    """What the device did so far: dispatches, submits, objects created …"""
    counters: dict[str, int] = _native.load().stats()
    return counters


def fallback_counts() -> dict[str, int]:
    """Operator → how often it ran on the CPU for want of a kernel."""
    counts: dict[str, int] = _native.load().fallback_counts()
    return counts


def reset_fallback_counts() -> None:
    _native.load().reset_fallback_counts()


def _set_window(dispatches: int) -> None:
    """Dispatches per submit; 1 submits each by itself (for benchmarks)."""
    _native.load().set_window(dispatches)
