"""Runs one implementation in a process of its own, for its parent.

An implementation is fixed per process, and a driver may crash, so what
compares implementations or surveys every operator starts workers:

  python -m tests.conformance.worker results FILE SAMPLES
      what the claimed operators give, for comparison with another
      implementation, written to FILE by torch.save
  python -m tests.conformance.worker survey
      reads one job per line from standard input, {"name", "dtype"}, answers
      one line {"name", "dtype", "mark", "note"} each
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

IMPLEMENTATIONS = ("wgpu", "dawn")
_PACKAGES = {"wgpu": "wgpu", "dawn": "wgpudawn"}
_LIBRARIES = {
    "wgpu": "TORCH_WEBGPU_WGPU_LIBRARY",
    "dawn": "TORCH_WEBGPU_DAWN_LIBRARY",
}
ROOT = Path(__file__).resolve().parents[2]


def installed(implementation: str) -> bool:
    from importlib.util import find_spec

    if os.environ.get(_LIBRARIES[implementation]):
        return True
    return find_spec(_PACKAGES[implementation]) is not None


def start(
    implementation: str, *arguments: str, **options: Any
) -> subprocess.Popen[str]:
    environment = os.environ | {
        "TORCH_WEBGPU_IMPL": implementation,
        "TORCH_WEBGPU_FALLBACK": "silent",
        # Two workers share the machine with each other.
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "tests.conformance.worker", *arguments],
        cwd=ROOT,
        env=environment,
        text=True,
        **options,
    )


def write_results(path: str, limit: int) -> None:
    """Saves {"add-float32-0": [outputs, gradients] or an error's text}."""
    from tests.conformance import harness
    from tests.conformance.claims import CLAIMS
    from tests.conformance.core import NoFallbacks

    results: dict[str, Any] = {}
    for name, dtype in harness.claimed():
        claim = CLAIMS[name]
        if claim.structure_only:
            continue
        for case in harness.cases(
            name, dtype, limit=limit, grad=not claim.forward_only
        ):
            key = f"{name}-{harness.dtype_name(dtype)}-{case.index}"
            try:
                got = case.measure(NoFallbacks())
                results[key] = [_on_cpu(got.outputs), _on_cpu(got.grads)]
            except Exception as error:
                results[key] = f"{type(error).__name__}: {error}"
    torch.save(results, path)


def _on_cpu(leaves: list[Any]) -> list[Any]:
    return [
        leaf.detach().cpu() if isinstance(leaf, torch.Tensor) else leaf
        for leaf in leaves
        if not isinstance(leaf, torch.device)
    ]


def survey() -> None:
    from tests.conformance.survey import measure

    for line in sys.stdin:
        job = json.loads(line)
        mark, note = measure(job["name"], getattr(torch, job["dtype"]))
        print(json.dumps(job | {"mark": mark, "note": note}), flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    import torch_webgpu  # noqa: F401  registers the device

    if sys.argv[1] == "results":
        write_results(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1] == "survey":
        survey()
    else:
        raise SystemExit(f"unknown worker {sys.argv[1]!r}")


if __name__ == "__main__":
    main()
