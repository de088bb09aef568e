"""What the setup depends on, read from the tree itself.

`inputs.py requirements` prints what pip must install, all of it taken from
pyproject.toml; `inputs.py sources` prints one hash over the content of every
file that can change the built package.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

try:
    import tomllib
except ImportError:  # Python 3.10
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("dawn", "test", "demo", "lint")


def requirements() -> list[str]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    config: dict[str, Any] = tomllib.loads(text)
    project = config["project"]
    wanted = [*config["build-system"]["requires"], *project["dependencies"]]
    for extra in EXTRAS:
        wanted += project["optional-dependencies"][extra]
    return list(dict.fromkeys(wanted))


def sources() -> str:
    files = [
        path
        for folder in ("src", "wgsl")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".so")
    ]
    files += [
        ROOT / name
        for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE")
    ]
    digest = hashlib.sha256()
    for path in sorted(files):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(ROOT)} {content}\n".encode())
    return digest.hexdigest()


if __name__ == "__main__":
    if sys.argv[1:] == ["requirements"]:
        print("\n".join(requirements()))
    elif sys.argv[1:] == ["sources"]:
        print(sources())
    else:
        raise SystemExit(__doc__)
