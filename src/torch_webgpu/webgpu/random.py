"""The device's default random generator."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from torch_webgpu import _native
from torch_webgpu.webgpu._utils import DeviceLike, _get_device_index


def _get_generator(device: DeviceLike = None) -> torch.Generator:
    _get_device_index(device)
    generator: torch.Generator = _native.load().default_generator()
    return generator


def manual_seed(seed: int) -> None:
    # torch.manual_seed() calls this in every program, so it must not raise
    # where the native library is missing.
    if _native.error() is None:
        _get_generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    manual_seed(seed)


def seed() -> int:
    """Seeds from the system; returns the seed."""
    return _get_generator().seed()


def seed_all() -> int:
    return seed()


def initial_seed() -> int:
    return _get_generator().initial_seed()


def get_rng_state(device: DeviceLike = "webgpu") -> torch.Tensor:
    return _get_generator(device).get_state()


def set_rng_state(
    new_state: torch.Tensor, device: DeviceLike = "webgpu"
) -> None:
    _get_generator(device).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    return [get_rng_state()]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    for state in new_states:
        set_rng_state(state)
