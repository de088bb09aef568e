"""One stream, its events, and how work is submitted."""

from __future__ import annotations

import threading

import pytest
import torch

CREATED = (
    "pipelines_created",
    "bind_groups_created",
    "buffers_created",
    "shader_modules_created",
)


def test_all_streams_are_one() -> None:
    stream = torch.webgpu.Stream()
    assert stream == torch.webgpu.current_stream()
    assert stream == torch.webgpu.default_stream()
    assert stream == torch.accelerator.current_stream()
    assert stream.device == torch.device("webgpu:0")
    with torch.webgpu.stream(stream), stream:
        x = torch.ones(3, device="webgpu") + 1
    x.record_stream(stream)
    stream.synchronize()
    assert stream.query()


def test_events() -> None:
    event = torch.webgpu.Event()
    assert isinstance(event, torch.webgpu.Event)
    assert event.query()  # nothing recorded
    torch.ones(3, device="webgpu") + 1
    event.record()
    torch.webgpu.current_stream().wait_event(event)
    event.synchronize()
    assert event.query()


def test_elapsed_time() -> None:
    start = torch.webgpu.Event(enable_timing=True)
    end = torch.webgpu.Event(enable_timing=True)
    x = torch.ones(2**20, device="webgpu")
    start.record()
    for _ in range(8):
        x = x + 1
    end.record()
    assert 0 < start.elapsed_time(end) < 60_000
    untimed = torch.webgpu.Event()
    untimed.record()
    with pytest.raises((RuntimeError, ValueError)):
        start.elapsed_time(untimed)


def test_work_is_submitted_in_windows() -> None:
    x = torch.zeros(64, device="webgpu")
    x = x + 1
    torch.webgpu.synchronize()
    before = torch.webgpu.stats()
    for _ in range(300):
        x = x + 1
    torch.webgpu.synchronize()
    after = torch.webgpu.stats()
    assert after["dispatches"] - before["dispatches"] == 300
    assert after["submits"] - before["submits"] <= 30
    assert x[0].item() == 301


def test_window_of_one() -> None:
    x = torch.zeros(64, device="webgpu")
    torch.webgpu._set_window(1)
    try:
        torch.webgpu.synchronize()
        before = torch.webgpu.stats()["submits"]
        for _ in range(10):
            x = x + 1
        torch.webgpu.synchronize()
        assert torch.webgpu.stats()["submits"] - before >= 10
    finally:
        torch.webgpu._set_window(64)


def test_a_steady_loop_creates_nothing() -> None:
    x, y = torch.ones(64, device="webgpu"), torch.ones(64, device="webgpu")

    def loop() -> None:
        z = x
        for _ in range(200):
            z = z + y
        torch.webgpu.synchronize()

    loop()
    loop()
    before = torch.webgpu.stats()
    loop()
    after = torch.webgpu.stats()
    assert {k: after[k] - before[k] for k in CREATED} == dict.fromkeys(
        CREATED, 0
    )


def test_kernel_timings() -> None:
    x = torch.ones(2**16, device="webgpu")
    x + 1
    with torch.webgpu.kernel_timings() as timings:
        x + 1
        x * 2
    if not torch.webgpu.adapter_info()["timestamps"]:
        pytest.skip("the adapter has no timestamp queries")
    assert [timing.label.split("_")[0] for timing in timings] == ["add", "mul"]
    assert all(0 < t.microseconds < 1e7 for t in timings)


def test_threads() -> None:
    results: dict[int, list[float]] = {}
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            x = torch.full((256,), float(number), device="webgpu")
            for _ in range(50):
                x = x * 2 - number
            results[number] = x.tolist()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert results == {n: [float(n)] * 256 for n in range(8)}


def test_backward_from_threads() -> None:
    gradients: dict[int, list[float]] = {}

    def work(number: int) -> None:
        x = torch.full((8,), float(number), device="webgpu", requires_grad=True)
        (x * x).sum().backward()
        assert x.grad is not None
        gradients[number] = x.grad.tolist()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gradients == {n: [2.0 * n] * 8 for n in range(4)}
