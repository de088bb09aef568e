"""Trains a small network on the WebGPU device, then the same one on the CPU.

A two-layer network learns the saddle z = x * y from 256 points. Both devices
start from the same weights and see the same data, so they must end alike.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import torch
from tqdm import tqdm

NEAR_ZERO = 1e-4
TOLERANCE = 1e-4
CHECK_EVERY = 25


@dataclass
class Result:
    device: str
    steps: int
    seconds: float
    loss: float
    predictions: torch.Tensor


def make_network(device: str) -> torch.nn.Module:
    generator = torch.Generator().manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(2, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)
    )
    with torch.no_grad():
        for parameter in network.parameters():
            # The same values on every device: drawn on the CPU.
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
            parameter.mul_(0.5 if parameter.shape[-1] == 2 else 0.1)
    return network.to(device)


def train(device: str, max_steps: int, until: float) -> Result:
    generator = torch.Generator().manual_seed(1)
    points = torch.rand(256, 2, generator=generator) * 2 - 1
    target = points[:, :1] * points[:, 1:]
    points, target = points.to(device), target.to(device)
    network = make_network(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)

    begin, loss, step = time.perf_counter(), float("inf"), 0
    pause = 0.1 if sys.stderr.isatty() else 5  # a log needs no animation
    with tqdm(
        total=max_steps, unit="step", desc=device, mininterval=pause
    ) as bar:
        while step < max_steps and loss > until:
            for _ in range(CHECK_EVERY):
                optimizer.zero_grad()
                error = (network(points) - target).pow(2).mean()
                error.backward()
                optimizer.step()
            step += CHECK_EVERY
            loss = error.item()  # the only wait for the device
            bar.set_postfix(loss=f"{loss:.2e}", refresh=False)
            bar.update(CHECK_EVERY)
        bar.total = step
        bar.refresh()
    seconds = time.perf_counter() - begin
    with torch.no_grad():
        predictions = network(points).cpu()
    return Result(device, step, seconds, loss, predictions)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-steps", type=int, default=4000)
    arguments = parser.parse_args()

    # With tensors this small, more threads only wait for each other.
    torch.set_num_threads(1)
    print(f"device          {torch.webgpu.get_device_name()}")
    print(f"implementation  {torch.webgpu.implementation()}")
    before = torch.webgpu.stats()
    torch.webgpu.reset_fallback_counts()
    ours = train("webgpu", arguments.max_steps, NEAR_ZERO)
    after = torch.webgpu.stats()
    fallbacks = torch.webgpu.fallback_counts()
    reference = train("cpu", ours.steps, 0.0)

    print()
    for name in ("dispatches", "submits", "pipelines_created"):
        print(f"{name:<20}{after[name] - before[name]:>10,}")
    print(f"{'fallbacks to the CPU':<20}{sum(fallbacks.values()):>10,}")
    print(f"\n{'':<12}{'webgpu':>14}{'cpu':>14}")
    print(f"{'steps':<12}{ours.steps:>14,}{reference.steps:>14,}")
    print(f"{'seconds':<12}{ours.seconds:>14.2f}{reference.seconds:>14.2f}")
    print(f"{'loss':<12}{ours.loss:>14.3e}{reference.loss:>14.3e}")
    for row in range(3):
        one, other = ours.predictions[row], reference.predictions[row]
        label = f"output {row}"
        print(f"{label:<12}{one.item():>14.6f}{other.item():>14.6f}")
    difference = (ours.predictions - reference.predictions).abs().max().item()
    print(f"\nlargest difference of 256 outputs: {difference:.1e}")

    problems = []
    if not ours.loss <= NEAR_ZERO:
        problems.append(f"the loss {ours.loss:.2e} is above {NEAR_ZERO:.0e}")
    if not difference <= TOLERANCE:
        problems.append(f"the outputs differ by more than {TOLERANCE:.0e}")
    if fallbacks:
        problems.append(f"operators ran on the CPU: {dict(fallbacks)}")
    for problem in problems:
        print(f"FAILED: {problem}")
    if not problems:
        print("The device and the CPU agree.")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
