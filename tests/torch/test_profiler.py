"""torch's profilers see the device."""

from __future__ import annotations

import pytest
import torch
from torch.autograd.profiler import record_function


def test_device_time_per_operator() -> None:
    x = torch.ones(256, 256, device="webgpu")
    x @ x  # compiled before it is timed
    with torch.autograd.profiler.profile(use_device="webgpu") as profile:
        with record_function("my step"):
            y = x @ x
        y.cpu()
    events = {event.key: event for event in profile.key_averages()}
    product = events["aten::matmul"]
    assert 0 < product.device_time_total < 60e6
    assert events["my step"].device_time_total >= product.device_time_total
    assert "webgpu" in profile.key_averages().table().lower()


def test_nothing_is_timed_after_the_profiler() -> None:
    x = torch.ones(8, device="webgpu")
    with torch.autograd.profiler.profile(use_device="webgpu"):
        x + 1
    torch.webgpu.synchronize()
    waits = torch.webgpu.stats()["waits"]
    for _ in range(5):
        x = x + 1
    assert torch.webgpu.stats()["waits"] == waits


@pytest.mark.parametrize("memory", [False, True])
def test_activities(memory: bool) -> None:
    activities = torch.profiler.ProfilerActivity
    assert activities.PrivateUse1 in torch.profiler.supported_activities()
    x = torch.ones(64, 64, device="webgpu")
    with torch.profiler.profile(
        activities=[activities.CPU, activities.PrivateUse1],
        record_shapes=True,
        profile_memory=memory,
    ) as profile:
        (x @ x).cpu()
    assert "aten::mm" in [event.key for event in profile.key_averages()]
