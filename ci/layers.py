"""Checks the rules of the tree that no compiler checks.

Each layer includes only what lies below it, no file includes torch's umbrella
headers (they cost a minute of compile time each), and no source file outgrows
what a reader can hold.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 500
TORCH = r"(ATen|c10|torch)/"
PYTHON = r"(Python\.h|nanobind/|pybind11/|torch/csrc/.*python)"
UMBRELLA = r"(ATen/ATen\.h|torch/(extension|torch|all)\.h)"

FORBIDDEN = {
    "src/hal": [TORCH, PYTHON, r"(ops|torch_binding)/"],
    "src/ops": [PYTHON, UMBRELLA, r"torch_binding/"],
    "src/torch_binding": [UMBRELLA],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
# Text is checked by the formatters for C++ and Python, here for the rest.
UNTIDY = re.compile(r"(\t|[ \r]+)$|^ *\t", re.M)


def sources(*suffixes: str) -> list[Path]:
    folders = ("bench", "ci", "src", "tests", "wgsl")
    found = [path for name in folders for path in (ROOT / name).rglob("*")]
    return sorted(path for path in found if path.suffix in suffixes)


def problems() -> list[str]:
    found = []
    for path in sources(".cpp", ".h", ".py", ".wgsl"):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        if lines > MAX_LINES:
            found.append(
                f"{name}: {lines} lines, at most {MAX_LINES}: split it"
            )
        if path.suffix == ".wgsl" and UNTIDY.search(text):
            found.append(f"{name}: has tabs or trailing spaces")
        for folder, patterns in FORBIDDEN.items():
            if not name.startswith(folder + "/"):
                continue
            for header in INCLUDE.findall(text):
                if any(re.match(pattern, header) for pattern in patterns):
                    found.append(f"{name}: {folder} must not include {header}")
    return found


if __name__ == "__main__":
    report = problems()
    print("\n".join(report), end="\n" if report else "")
    sys.exit(bool(report))
