"""Each family of operators against the limit of the adapter.

Every case runs in interleaved rounds beside the fastest plain WGSL kernels for
the same kind of bytes (bench/plain.py) and, where it is named so, beside the
adapter's own buffer copy; the best of the rounds counts, on both sides. They
are repeated in other memory, since where a tensor's pages happen to lie in a
CPU's caches can halve either side's speed. The ratio is the operator's rate
divided by the reference's. A product of matrices
is held against a plain product, its transposed forms against a @ b.

  bar     what the project has set itself; a missed one makes the run fail
  --short fewer cases and rounds, for CI: fails below a generous floor only
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import common
import torch
from cases import CASES, SHORT, Case, Data, N
from plain import References

Row = dict[str, Any]


class Place:
    """Tensors of the cases and of the references, in memory of their own."""

    def __init__(self, number: int, short: bool) -> None:
        self.number = number
        self.data = Data()
        self.references = References(N, short)
        self.named = {case.name: case for case in CASES}

    def reference(self, case: Case) -> tuple[dict[str, common.Run], float]:
        """Loops to hold the case against, and the work that one does."""
        if case.against == "buffer copy":
            # As many bytes: what fits a cache is copied faster.
            return self.references.copy(int(case.work) // 2), case.work
        kind = case.against.removeprefix("plain ")
        if kind == case.against:
            other = self.named[kind]
            return {other.name: lambda: other.run(self.data)}, other.work
        if kind.startswith("matmul "):
            n = int(kind.split()[1])
            return self.references.matmul(n), 2 * n**3
        return self.references.of(kind), self.references.bytes(kind)

    def times(self, case: Case, rounds: int, sample: float) -> dict[str, float]:
        """The best of the case (by the name "") and of what it runs beside."""
        # So that results do not get the memory that other places' got.
        held = [torch.empty(N, device="webgpu") for _ in range(self.number)]
        references, _ = self.reference(case)
        loops = {"": lambda: case.run(self.data), **references}
        if case.unit == "GB/s" and case.against != "buffer copy":
            loops |= self.references.copy(4 * N)
        samples = common.interleave(
            loops, rounds, torch.webgpu.synchronize, sample
        )
        del held
        return common.best(samples)


class Runner:
    def __init__(self, short: bool, rounds: int) -> None:
        self.rounds = rounds
        self.sample = 0.005 if short else 0.01
        self.places = [Place(i, short) for i in range(1 if short else 5)]

    def measure(self, case: Case) -> Row:
        row: Row = {
            "name": case.name,
            "unit": case.unit,
            "against": case.against,
            "bar": case.bar,
            "floor": case.lowest(),
        }
        torch.webgpu.reset_fallback_counts()
        times: dict[str, float] = {}
        try:
            for place in self.places:
                best = place.times(case, self.rounds, self.sample)
                for name, seconds in best.items():
                    times[name] = min(seconds, times.get(name, seconds))
        except (RuntimeError, NotImplementedError) as error:
            return {**row, "error": str(error).splitlines()[0][:200]}
        _, work = self.places[0].reference(case)
        others = set(times) - {""}
        if case.against != "buffer copy":
            others.discard("buffer copy")
        fastest = min(others, key=lambda name: times[name])
        row["ms"] = 1e3 * times[""]
        row["rate"] = case.work / times[""] / 1e9
        row["reference"] = fastest
        row["reference_rate"] = work / times[fastest] / 1e9
        row["ratio"] = row["rate"] / row["reference_rate"]
        if "buffer copy" in times:
            moved = work if fastest == "buffer copy" else 8 * N
            row["buffer_copy_rate"] = moved / times["buffer copy"] / 1e9
        if fallen := torch.webgpu.fallback_counts():
            row["error"] = f"ran on the CPU: {', '.join(fallen)}"
        return row


def verdict(row: Row, limit: str) -> str:
    """`limit` is "bar" or "floor"."""
    if "error" in row:
        return "ERROR"
    if row[limit] is None:
        return ""
    return "ok" if row["ratio"] >= row[limit] else "MISSED"


def run(cases: list[Case], arguments: argparse.Namespace) -> dict:
    rounds = arguments.rounds or (4 if arguments.short else 5)
    runner = Runner(arguments.short, rounds)
    facts, begin = common.machine(), time.perf_counter()
    title = f"limits, {torch.webgpu.implementation()}"
    limit = "floor" if arguments.short else "bar"
    rows = []
    for case in common.progress(cases, title):
        row = runner.measure(case)
        if arguments.short and verdict(row, limit) == "MISSED":
            # A busy moment misses once, a slow family again.
            row = runner.measure(case)
        rows.append(row)
    return {
        **facts,
        "elements": N,
        "rounds": rounds,
        "places": len(runner.places),
        "seconds": round(time.perf_counter() - begin, 1),
        "limit": limit,
        "rows": rows,
    }


def report(documents: list[dict]) -> tuple[bool, str]:
    """Prints the documents side by side.

    Returns whether nothing was missed, and the table with its notes.
    """
    limit = documents[0]["limit"]
    columns, rows = ["case", "unit", "against"], []
    for document in documents:
        name = document["implementation"]
        columns += [f"{name}", "plain", "ratio", limit, ""]
    good = True
    for parts in zip(*(d["rows"] for d in documents), strict=True):
        first = parts[0]
        line = [first["name"], first["unit"], first["against"]]
        for part in parts:
            says = verdict(part, limit)
            good &= says in ("", "ok")
            line += [
                part.get("rate"),
                part.get("reference_rate"),
                part.get("ratio"),
                part[limit],
                says,
            ]
        rows.append(line)
    facts = documents[0]
    said = [
        f"{facts['adapter']}, torch {facts['torch']}: {facts['elements']:,} "
        f"elements, best of {facts['rounds']} rounds in each of "
        f"{facts['places']} places.",
        common.table(columns, rows),
    ]
    notes, missed = [], []
    for document in documents:
        name = document["implementation"]
        done = [r for r in document["rows"] if "ms" in r]
        used = sorted(
            {r["reference"] for r in done} - {r["name"] for r in done}
        )
        notes.append(f"- {name}: fastest references: {'; '.join(used)}.")
        copies = [r.get("buffer_copy_rate", 0.0) for r in done]
        notes.append(
            f"- {name}: buffer copy {max(copies, default=0.0):.1f} GB/s; "
            f"{document['seconds']:.0f} s; load average before "
            f"{document['load']:.1f}."
        )
        for row in document["rows"]:
            if "error" in row:
                missed.append(f"{name}: {row['name']}: {row['error']}")
            elif verdict(row, limit) == "MISSED":
                missed.append(
                    f"{name}: {row['name']} reaches {row['ratio']:.2f} of "
                    f"{row['against']}, below its {limit} of {row[limit]:.2f}"
                )
    text = "\n\n".join([*said, "\n".join(notes)])
    print(text, *missed, sep="\n")
    return good, text


def main() -> int:
    parser = common.parser(__doc__)
    parser.add_argument(
        "--rounds", type=int, help="in each place; default: 5, short 4"
    )
    parser.add_argument("--list", action="store_true", help="the cases, no run")
    arguments = parser.parse_args()
    cases = [c for c in CASES if not arguments.short or c.name in SHORT]
    cases = common.chosen(cases, arguments.filter, lambda case: case.name)
    if arguments.list:
        for case in cases:
            print(f"{case.name:<26} {case.unit:<8} {case.against}")
        return 0
    if arguments.both:
        documents = common.run_both(__file__, arguments)
        common.write_json(arguments.json, {"documents": documents})
    else:
        documents = [run(cases, arguments)]
        common.write_json(arguments.json, documents[0])
    good, text = report(documents)
    common.replace_table(arguments.markdown, __file__, text)
    common.plot_bars(
        arguments.plot,
        "rate, as a part of the plain WGSL kernel's; the mark is the bar",
        [row["name"] for row in documents[0]["rows"]],
        {
            document["implementation"]: [
                row.get("ratio") for row in document["rows"]
            ]
            for document in documents
        },
        [row["bar"] for row in documents[0]["rows"]],
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
