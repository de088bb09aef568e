"""The implementations agree with each other, not only with the CPU."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conformance import core, harness, worker

SAMPLES_VARIABLE = "TORCH_WEBGPU_CROSS_SAMPLES"
MINUTES = 10


def collect(directory: Path, samples: str) -> dict[str, dict[str, Any]]:
    """What each implementation gives, measured side by side."""
    running = {}
    for name in worker.IMPLEMENTATIONS:
        log = (directory / f"{name}.log").open("w")
        path = str(directory / f"{name}.pt")
        running[name] = worker.start(
            name, "results", path, samples, stdout=log, stderr=log
        )
    try:
        for name, process in running.items():
            code = process.wait(MINUTES * 60)
            log_text = (directory / f"{name}.log").read_text()
            assert code == 0, f"{name} ended with {code}:\n{log_text[-3000:]}"
    finally:
        for process in running.values():
            process.kill()
    return {
        name: torch.load(directory / f"{name}.pt")
        for name in worker.IMPLEMENTATIONS
    }


def differences(
    left: dict[str, Any], right: dict[str, Any], names: tuple[str, str]
) -> list[str]:
    assert left.keys() == right.keys()
    found: list[str] = []
    for key, a in left.items():
        b = right[key]
        if isinstance(a, str) or isinstance(b, str):
            # A claim that raises on both is test_claims' business.
            if type(a) is not type(b):
                error = a if isinstance(a, str) else b
                found.append(f"{key}: only one raises: {error}")
            continue
        operator, dtype, _ = key.rsplit("-", 2)
        tolerance = harness.tolerance_of(
            harness.op_infos()[operator], getattr(torch, dtype)
        )
        for what, x, y in zip(("output", "gradient"), a, b, strict=True):
            try:
                core.compare_all(what, x, y, device="cpu", tolerance=tolerance)
            except AssertionError as error:
                text = str(error).replace("CPU", names[1])
                found.append(f"{key}: {text}")
    return found


@pytest.mark.skipif(
    not all(map(worker.installed, worker.IMPLEMENTATIONS)),
    reason="only one WebGPU implementation is installed",
)
def test_implementations_agree(tmp_path: Path) -> None:
    results = collect(tmp_path, os.environ.get(SAMPLES_VARIABLE, "1"))
    left, right = worker.IMPLEMENTATIONS
    assert results[left], "no claim gave a result"
    found = differences(results[left], results[right], (left, right))
    assert not found, f"{left} against {right}:\n" + "\n".join(found[:10])
