"""CPU cost of one eager operator, and the bars that it must keep.

Four loops of additions of 64 floats, in interleaved rounds so that a busy
machine disturbs all of them alike, medians reported:

  bare        the HAL alone: one cached pipeline and bind group, no PyTorch
  eager       x + y on the device, submitted by windows
  submit each the same with a window of one dispatch
  cpu         x + y on the CPU

Fails when eager costs more than 5 us of CPU time above bare, when 300
dependent operators need more than 30 submits, or when the steady loop creates
any GPU object.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import torch

import torch_webgpu._C as _C

MAX_OVERHEAD_US = 5.0
MAX_SUBMITS = 30
DEPENDENT_OPERATORS = 300
DEFAULT_WINDOW = 64  # hal::DeviceOptions::window

Sample = tuple[float, float]  # CPU and wall-clock seconds


def measure(run: Callable[[], object]) -> Sample:
    """Times `run`; the wait for the device is part of the wall clock only."""
    torch.webgpu.synchronize()
    wall, cpu = time.perf_counter(), time.thread_time()
    run()
    cpu = time.thread_time() - cpu
    torch.webgpu.synchronize()
    return cpu, time.perf_counter() - wall


def additions(device: str, count: int) -> Callable[[], None]:
    x, y = torch.ones(64, device=device), torch.ones(64, device=device)

    def run() -> None:
        for _ in range(count):
            x + y

    return run


def with_window(window: int, run: Callable[[], object]) -> Callable[[], None]:
    def windowed() -> None:
        torch.webgpu._set_window(window)
        try:
            run()
        finally:
            torch.webgpu._set_window(DEFAULT_WINDOW)

    return windowed


def bare(count: int) -> Sample:
    torch.webgpu.synchronize()
    wall = time.perf_counter()
    cpu = _C.bench_bare_dispatch(count)
    torch.webgpu.synchronize()
    return cpu, time.perf_counter() - wall


def created() -> int:
    """GPU objects that the device has made so far."""
    stats = torch.webgpu.stats()
    return sum(n for name, n in stats.items() if name.endswith("_created"))


def submits_of_dependent_operators() -> int:
    x = torch.ones(64, device="webgpu")
    torch.webgpu.synchronize()
    before = torch.webgpu.stats()["submits"]
    for _ in range(DEPENDENT_OPERATORS):
        x = x + 1
    torch.webgpu.synchronize()
    return torch.webgpu.stats()["submits"] - before


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--operators", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    count, rounds = arguments.operators, max(7, arguments.rounds)

    eager = additions("webgpu", count)
    on_cpu = additions("cpu", count)
    loops: dict[str, Callable[[], Sample]] = {
        "bare": lambda: bare(count),
        "eager": lambda: measure(eager),
        "submit each": lambda: measure(with_window(1, eager)),
        "cpu": lambda: measure(on_cpu),
    }
    for loop in loops.values():
        loop()  # compiles pipelines and fills the caches
    samples: dict[str, list[Sample]] = {name: [] for name in loops}
    objects = 0
    for _ in range(rounds):
        for name, loop in loops.items():
            before = created()
            samples[name].append(loop())
            if name == "eager":
                objects += created() - before
    submits = submits_of_dependent_operators()

    print(
        f"{torch.webgpu.get_device_name()}, {torch.webgpu.implementation()}: "
        f"{count:,} additions of 64 floats, median of {rounds} rounds"
    )
    print(f"\n{'per operator':<14}{'CPU us':>10}{'wall us':>10}")
    cost = {}
    for name, values in samples.items():
        cpu, wall = (
            statistics.median(value[i] for value in values) / count * 1e6
            for i in (0, 1)
        )
        cost[name] = cpu
        print(f"{name:<14}{cpu:>10.2f}{wall:>10.2f}")
    overhead = statistics.median(
        (e[0] - b[0]) / count * 1e6
        for e, b in zip(samples["eager"], samples["bare"], strict=True)
    )

    print(f"\n{'bar':<44}{'measured':>10}{'at most':>10}")
    bars = [
        ("eager - bare, CPU us per operator", overhead, MAX_OVERHEAD_US),
        (f"submits of {DEPENDENT_OPERATORS} operators", submits, MAX_SUBMITS),
        ("GPU objects created in the steady loop", objects, 0),
    ]
    missed = False
    for title, value, limit in bars:
        verdict = "" if value <= limit else "  MISSED"
        missed |= value > limit
        print(f"{title:<44}{value:>10.6g}{limit:>10.6g}{verdict}")
    return missed


if __name__ == "__main__":
    sys.exit(main())
