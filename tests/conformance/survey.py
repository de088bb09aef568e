"""How the device runs any operator of op_db, claimed or not.

`measure` looks at a few samples of one operator and dtype in this process;
`Surveyor` runs many in a worker per implementation, which may crash or hang.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import torch

from tests.conformance import harness, worker
from tests.conformance.claims import CLAIMS
from tests.conformance.core import (
    DEVICE,
    BackwardError,
    DeviceFallbacks,
    Fallbacks,
)

NATIVE = "N"
FORWARD = "n"
FALLBACK = "c"
UNSUPPORTED = "-"
WRONG = "!"
ABSENT = ""

SAMPLES = 2
AMONG = 6
SECONDS_PER_CASE = 60

# Operators whose values say nothing: random numbers, uninitialised memory.
UNPREDICTABLE = (
    "bernoulli",
    "cauchy",
    "dropout",
    "empty",
    "exponential",
    "geometric",
    "log_normal",
    "multinomial",
    "normal",
    "pca_lowrank",
    "rand",
    "resize_",
    "rrelu",
    "svd_lowrank",
    "uniform",
)


def predictable(name: str) -> bool:
    if name in CLAIMS:
        return not CLAIMS[name].structure_only
    return not any(part in name for part in UNPREDICTABLE)


# From best to worst; an operator is as good as its worst sample.
_ORDER = (NATIVE, FORWARD, FALLBACK, WRONG, UNSUPPORTED)


def measure(
    name: str,
    dtype: torch.dtype,
    *,
    device: str = DEVICE,
    fallbacks: Fallbacks | None = None,
) -> tuple[str, str]:
    """The mark of an operator for a dtype, and what stands behind it."""
    fallbacks = fallbacks or DeviceFallbacks()
    try:
        items = harness.cases(
            name,
            dtype,
            limit=SAMPLES,
            among=AMONG,
            values=predictable(name),
            device=device,
        )
    except Exception:
        return ABSENT, "no samples"
    worst, why = ABSENT, "the CPU computes none of the samples"
    for case, want in harness.with_oracle(items):
        mark, note = _measure_case(case, want, fallbacks)
        if worst == ABSENT or _ORDER.index(mark) > _ORDER.index(worst):
            worst, why = mark, note
    return worst, why


def _measure_case(
    case: harness.Case, want: harness.Outcome, fallbacks: Fallbacks
) -> tuple[str, str]:
    try:
        got = case.measure(fallbacks)
    except BackwardError as error:
        # The counter still holds the backward pass; the forward pass, asked
        # alone, says whether the call itself is native.
        forward = harness.Case(
            case.op,
            case.dtype,
            case.index,
            case.sample,
            False,
            case.values,
            case.device,
        )
        mark, note = _measure_case(forward, forward.oracle(), fallbacks)
        return (
            (FORWARD, f"backward: {error}") if mark == NATIVE else (mark, note)
        )
    except Exception as error:
        return UNSUPPORTED, f"{type(error).__name__}: {error}"[:300]
    try:
        case.judge(got, want)
    except AssertionError as error:
        return WRONG, str(error)[:300]
    if got.forward_fallbacks:
        return FALLBACK, ", ".join(got.forward_fallbacks)
    if got.backward_fallbacks:
        return FORWARD, ", ".join(got.backward_fallbacks)
    return NATIVE, ""


class Surveyor:
    """One worker of one implementation, started again after a crash or a
    hang; the case that it died of counts as unsupported."""

    def __init__(self, implementation: str, log: Path) -> None:
        self._implementation = implementation
        self._log = log
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str | None] = queue.Queue()

    def run(self, jobs: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
        results = []
        try:
            for job in jobs:
                results.append(self._ask(job))
        finally:
            self._stop()
        return results

    def _ask(self, job: dict[str, str]) -> dict[str, Any]:
        process = self._process or self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            answer = self._answers.get(timeout=SECONDS_PER_CASE)
        except (queue.Empty, OSError):
            answer = None
        if answer is None:
            process.kill()
            code = process.wait()
            self._stop()
            note = f"the process ended with {code}"
            return job | {"mark": UNSUPPORTED, "note": note, "died": True}
        return json.loads(answer)

    def _start(self) -> subprocess.Popen[str]:
        self._answers = queue.Queue()
        with self._log.open("a") as log:
            process = worker.start(
                self._implementation,
                "survey",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        self._process = process
        threading.Thread(
            target=_read, args=(process.stdout, self._answers), daemon=True
        ).start()
        return process

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _read(stream: IO[str], answers: queue.Queue[str | None]) -> None:
    for line in stream:
        if line.startswith("{"):
            answers.put(line)
    answers.put(None)
