"""Nobody waits for somebody else, and nobody waits long."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable

import pytest
import torch

# One workgroup of one thread, so that a software adapter has cores left.
SPIN = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read> turns: array<u32>;
@compute @workgroup_size(1) fn spin() {
  var x = data[0];
  for (var i = 0u; i < turns[0]; i++) {
    x = (x ^ (x >> 7u)) * 1664525u + i;
  }
  data[0] = x;
}
"""


class Spinner:
    """Work of a known length for the GPU."""

    def __init__(self) -> None:
        self.kernel = torch.webgpu.compile_shader(SPIN).spin
        self.data = torch.zeros(1, dtype=torch.int32, device="webgpu")
        turns = 500_000
        length = min(self.measure(turns) for _ in range(5))
        self.turns_per_second = turns / length

    def tensor(self, turns: float) -> torch.Tensor:
        return torch.tensor([int(turns)], dtype=torch.int32, device="webgpu")

    def measure(self, turns: int) -> float:
        count = self.tensor(turns)
        torch.webgpu.synchronize()
        start = time.perf_counter()
        self.kernel(self.data, count, threads=1)
        torch.webgpu.synchronize()
        return time.perf_counter() - start

    def start(self, seconds: float) -> torch.webgpu.Event:
        """Submits work that takes about so long; gives its end."""
        torch.webgpu.synchronize()
        self.kernel(
            self.data, self.tensor(seconds * self.turns_per_second), threads=1
        )
        event = torch.webgpu.Event()
        event.record()
        event.query()
        return event


@pytest.fixture(scope="module")
def spinner() -> Spinner:
    return Spinner()


def wait_for_event(_: Spinner) -> None:
    event = torch.webgpu.Event()
    event.record()
    event.synchronize()


WAITS: dict[str, Callable[[Spinner], object]] = {
    "synchronize": lambda _: torch.webgpu.synchronize(),
    "accelerator": lambda _: torch.accelerator.synchronize(),
    "stream": lambda _: torch.webgpu.current_stream().synchronize(),
    "event": wait_for_event,
    "item": lambda spinner: spinner.data.item(),
    "cpu": lambda spinner: spinner.data.cpu(),
    "tolist": lambda spinner: spinner.data.tolist(),
    "numpy": lambda spinner: spinner.data.numpy(force=True),
}


def turns_of(work: Callable[[], object], seconds: float) -> int:
    end = time.perf_counter() + seconds
    turns = 0
    while time.perf_counter() < end:
        work()
        turns += 1
    return turns


def small_work() -> Callable[[], None]:
    """Python, memory of the device and a little of its work."""
    x = torch.ones(64, device="webgpu")

    def work() -> None:
        sum(range(10_000))
        torch.empty(1000, device="webgpu")
        x.add_(1)

    for _ in range(100):
        work()
    torch.webgpu.synchronize()
    return work


@pytest.mark.parametrize("wait", WAITS)
def test_who_waits_stops_nobody(spinner: Spinner, wait: str) -> None:
    """The pace of another thread, with and without one that waits.

    The GPU is busy in both cases, since a software adapter takes a core of the
    machine; the best of some rounds counts, since others take cores too.
    """
    work = small_work()
    seconds = 0.1

    def pace(waits: bool) -> int:
        def target() -> None:
            if waits:
                WAITS[wait](spinner)

        end = spinner.start(2 * seconds)
        waiter = threading.Thread(target=target)
        waiter.start()
        time.sleep(seconds / 10)  # until it waits
        turns = turns_of(work, seconds)
        busy = not end.query()
        waiter.join()
        if not busy:  # measured its speed on a busier machine
            spinner.turns_per_second *= 1.5
        return turns if busy else 0

    free = waiting = 0
    for _ in range(20):
        for _ in range(2):
            free = max(free, pace(waits=False))
            waiting = max(waiting, pace(waits=True))
        if waiting >= 0.8 * free > 0:
            return
    pytest.fail(f"{waiting} turns while another thread waits, {free} without")


PRODUCTS = """
import sys
import time
import torch
import torch_webgpu
a, b = (torch.rand(500, 500, device="webgpu") for _ in range(2))
end = time.perf_counter() + float(sys.argv[1])
print("begins", flush=True)
while time.perf_counter() < end:
    a @ b
print("ends", flush=True)
"""


def start_products(seconds: float) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PRODUCTS), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "begins\n"
    return child


def seconds_to_end(child: subprocess.Popen[str]) -> float:
    start = time.perf_counter()
    child.communicate(timeout=300)
    return time.perf_counter() - start


# The queue holds half a second of work; the rest is for a busy machine.
SOON = 8.0


def test_exit_waits_for_little() -> None:
    child = start_products(1.0)
    assert child.stdout is not None
    assert child.stdout.readline() == "ends\n"
    assert seconds_to_end(child) < SOON
    assert child.returncode == 0


def test_an_interrupt_waits_for_little() -> None:
    child = start_products(60.0)
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    assert seconds_to_end(child) < SOON
    assert child.returncode != 0
