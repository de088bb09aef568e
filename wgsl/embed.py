"""Turns wgsl/ into one C++ source: kernel templates as they are, the function
library (lib/) and the storage accessors (storage/) split into top-level
declarations, so that a kernel carries only what it uses."""

import re
import sys
from pathlib import Path

LIBRARIES = ("lib", "storage")
DECLARATION = re.compile(
    r"^(?:(?:fn|const|alias|struct)\s+)([A-Za-z_][A-Za-z0-9_{}]*)"
)


def declarations(path: Path) -> list[tuple[str, str]]:
    """(name, text) of each top-level declaration of a library file."""
    found: list[tuple[str, str]] = []
    lines: list[str] = []
    name = ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not name:
            if not line or line.startswith("//"):
                continue
            match = DECLARATION.match(line)
            if not match:
                raise SystemExit(f"{path}:{number}: not a declaration: {line}")
            name = match[1]
        lines.append(line)
        statement = lines[0].startswith(("const", "alias"))
        if (
            line.endswith(";")
            if statement
            else line.endswith("}") and (line == "}" or len(lines) == 1)
        ):
            found.append((name, "\n".join(lines) + "\n"))
            lines, name = [], ""
    if name:
        raise SystemExit(f"{path}: {name} does not end")
    return found


def literal(text: str) -> str:
    """A raw string, in pieces that every compiler takes."""
    pieces = [text[i : i + 8000] for i in range(0, len(text), 8000)] or [""]
    return "\n".join(f'R"wgsl({piece})wgsl"' for piece in pieces)


def main(root: Path, output: Path) -> None:
    rows = []
    for folder in LIBRARIES:
        for path in sorted((root / folder).glob("*.wgsl")):
            for name, text in declarations(path):
                rows.append(
                    f'    {{"{folder}/{path.stem}", "{name}",\n'
                    f"{literal(text)}}},"
                )
    kernels = [
        path
        for path in sorted(root.glob("*/*.wgsl"))
        if path.parent.name not in LIBRARIES
    ]
    stems = [path.stem for path in kernels]
    if len(set(stems)) != len(stems):
        raise SystemExit(f"two kernels of one name below {root}")
    files = [
        f'    {{"{path.stem}",\n{literal(path.read_text())}}},'
        for path in kernels
    ]
    output.write_text(
        '#include "ops/kernel/embedded.h"\n\n'
        "namespace torch_webgpu::wgsl {\n\n"
        "const std::vector<Declaration>& declarations() {\n"
        "  static const std::vector<Declaration> all = {\n"
        + "\n".join(rows)
        + "\n  };\n  return all;\n}\n\n"
        "const std::vector<Template>& templates() {\n"
        "  static const std::vector<Template> all = {\n"
        + "\n".join(files)
        + "\n  };\n  return all;\n}\n\n"
        "}  // namespace torch_webgpu::wgsl\n"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
