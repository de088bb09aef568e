"""Writes docs/operators.md, the table of what the device supports.

python -m tests.conformance.report            measure and write
python -m tests.conformance.report --check    measure, fail if the file is
                                              stale
--step N    with --check: measure every N-th operator only, and compare
            the file's bold marks with the claims
--notes     print what stands behind the marks ! and -
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from tests.conformance import harness, worker
from tests.conformance.claims import ALL
from tests.conformance.survey import (
    ABSENT,
    FALLBACK,
    FORWARD,
    NATIVE,
    UNSUPPORTED,
    WRONG,
    Surveyor,
)

TARGET = worker.ROOT / "docs" / "operators.md"
SHORT = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "bool",
}
MEANING = {
    NATIVE: "native: forward and backward run on the device",
    FORWARD: "native forward; the backward pass uses the CPU somewhere",
    FALLBACK: "fallback: right, but by way of the CPU (counted in "
    "`torch.webgpu.fallback_counts()`)",
    WRONG: "the result differs from the CPU's by more than torch's tolerance",
    UNSUPPORTED: "unsupported: raises",
}

# {(operator, dtype's name): {implementation: mark}}
Marks = dict[tuple[str, str], dict[str, str]]


def measure(names: list[str]) -> tuple[Marks, list[str]]:
    """The marks of these operators on both implementations, and notes."""
    jobs = [
        {"name": name, "dtype": harness.dtype_name(dtype)}
        for name in names
        for dtype in ALL
        if harness.op_infos()[name].supports_dtype(dtype, "cpu")
    ]
    marks: Marks = {}
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        surveys = {
            implementation: pool.submit(
                Surveyor(
                    implementation, Path(folder) / f"{implementation}.log"
                ).run,
                jobs,
            )
            for implementation in worker.IMPLEMENTATIONS
        }
        for implementation, survey in surveys.items():
            results = survey.result()
            died = [result for result in results if result.get("died")]
            if len(died) > 20:
                log = (Path(folder) / f"{implementation}.log").read_text()
                raise SystemExit(
                    f"{implementation}: {len(died)} of {len(jobs)} cases end "
                    f"their process; the last words:\n{log[-2000:]}"
                )
            for result in results:
                key = (result["name"], result["dtype"])
                marks.setdefault(key, {})[implementation] = result["mark"]
                if result["mark"] in (WRONG, UNSUPPORTED):
                    notes.append(
                        f"{implementation} {key[0]} {key[1]} "
                        f"{result['mark']} {result['note']}"
                    )
    return marks, notes


def cell(marks: dict[str, str], claimed: bool) -> str:
    """One mark, or wgpu's and Dawn's where they differ; bold if claimed."""
    found = [marks.get(i, ABSENT) for i in worker.IMPLEMENTATIONS]
    text = found[0] if len(set(found)) == 1 else "/".join(found)
    return f"**{text}**" if claimed and text else text


def rows(marks: Marks, names: list[str]) -> list[str]:
    claimed = set(harness.claimed())
    lines = []
    for name in sorted(names):
        cells = [
            cell(
                marks.get((name, harness.dtype_name(dtype)), {}),
                (name, dtype) in claimed,
            )
            for dtype in ALL
        ]
        if any(cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def totals(marks: Marks) -> list[str]:
    head = " | ".join(worker.IMPLEMENTATIONS)
    lines = [f"| mark | meaning | {head} |", "|---|---|---|---|"]
    counts = {
        implementation: Counter(
            found.get(implementation, ABSENT) for found in marks.values()
        )
        for implementation in worker.IMPLEMENTATIONS
    }
    for mark, meaning in MEANING.items():
        numbers = " | ".join(
            str(counts[implementation][mark])
            for implementation in worker.IMPLEMENTATIONS
        )
        lines.append(f"| {mark} | {meaning} | {numbers} |")
    return lines


def document(marks: Marks, names: list[str]) -> str:
    claims = harness.claimed()
    head = " | ".join(SHORT[dtype] for dtype in ALL)
    return "\n".join(
        [
            "# Operators",
            "",
            "Measured, not written by hand: `python -m "
            "tests.conformance.report` runs samples of every operator of "
            "torch's `op_db` on each implementation and writes this file. "
            "The adapter is Mesa's lavapipe.",
            "",
            "A **bold** mark is a claim (`tests/conformance/claims.py`): "
            "tested against the CPU, forward, backward, in-place and with "
            "`out=`, with no fallback. "
            f"{len(claims)} pairs of operator and dtype are claimed, of "
            f"{len({name for name, _ in claims})} operators. An empty cell: "
            "CPU torch does not have it either. `N/c` is wgpu's and Dawn's "
            "mark where they differ.",
            "",
            *totals(marks),
            "",
            f"| operator | {head} |",
            "|---" * (len(ALL) + 1) + "|",
            *rows(marks, names),
            "",
        ]
    )


def stale_lines(text: str, expected: list[str]) -> list[str]:
    present = set(text.splitlines())
    return [line for line in expected if line not in present]


def bold_marks(text: str) -> dict[tuple[str, str], bool]:
    """Which cells of the file's table are bold, empty cells left out."""
    result = {}
    names = [harness.dtype_name(dtype) for dtype in ALL]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != len(ALL) + 1 or cells[0] not in harness.op_infos():
            continue
        for dtype, mark in zip(names, cells[1:], strict=True):
            if mark:
                result[cells[0], dtype] = mark.startswith("**")
    return result


def stale_claims(text: str) -> list[str]:
    """Claims that the file does not show, and those that are no more."""
    claims = {(name, harness.dtype_name(d)) for name, d in harness.claimed()}
    return [
        f"{name} {dtype} is {'no longer ' if bold else ''}claimed"
        for (name, dtype), bold in bold_marks(text).items()
        if bold != ((name, dtype) in claims)
    ]


def broken_claims(marks: Marks) -> list[str]:
    """Claims that do not measure as native: docs would contradict tests."""
    from tests.conformance.claims import CLAIMS
    from tests.conformance.expected_failures import reason_for

    broken = []
    for name, dtype in harness.claimed():
        fine = {NATIVE, ABSENT}
        if CLAIMS[name].forward_only:
            fine.add(FORWARD)
        found = marks.get((name, harness.dtype_name(dtype)), {})
        for implementation, mark in found.items():
            if mark not in fine and not reason_for(name, dtype, implementation):
                broken.append(
                    f"{name} {harness.dtype_name(dtype)} is claimed, "
                    f"{implementation} measures {mark!r}"
                )
    return broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--notes", action="store_true")
    options = parser.parse_args()
    if options.step != 1 and not options.check:
        parser.error("--step is for --check: the file needs every operator")
    for implementation in worker.IMPLEMENTATIONS:
        if not worker.installed(implementation):
            parser.error(f"{implementation} is not installed")

    names = sorted(harness.op_infos())[:: options.step]
    marks, notes = measure(names)
    if options.notes:
        print("\n".join(notes))
    broken = broken_claims(marks)
    if broken:
        print("\n".join(broken), file=sys.stderr)
        return 1
    if not options.check:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(document(marks, names))
        return 0
    text = TARGET.read_text() if TARGET.exists() else ""
    if options.step == 1:
        stale = stale_lines(document(marks, names), text.splitlines())
        stale += stale_lines(text, document(marks, names).splitlines())
    else:
        stale = stale_lines(text, rows(marks, names)) + stale_claims(text)
    if stale:
        print(
            f"{TARGET.relative_to(worker.ROOT)} is stale; run `python -m "
            "tests.conformance.report` and commit the result. It lacks, or "
            "has too much:\n" + "\n".join(stale[:20]),
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
