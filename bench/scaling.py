"""Throughput against size: 1 KiB to 512 MiB of float32, by powers of four.

Small tensors show what a launch costs, large ones the adapter's bandwidth, and
the largest what dividing work above the binding limit costs. Sizes are those of
one input; the rates count what must be read and written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

import common
import torch

import torch_webgpu  # noqa: F401 - no entry point without an installation

SMALLEST = 1 << 10
COLUMNS = 1024  # of what softmax sees, where there are as many


@dataclass(frozen=True)
class Operation:
    name: str
    traffic: int  # bytes for each byte of an input
    run: Callable[[torch.Tensor, torch.Tensor], object]


OPERATIONS = [
    Operation("add", 3, lambda x, y: x + y),
    Operation("copy", 2, lambda x, y: y.copy_(x)),
    Operation("sum", 1, lambda x, y: x.sum()),
    Operation("softmax", 2, lambda x, y: x.softmax(-1)),
]


def sizes(largest: int) -> list[int]:
    made, size = [], SMALLEST
    while size < largest:
        made.append(size)
        size *= 4
    return [*made, largest]


def label(size: int) -> str:
    for shift, unit in ((20, "MiB"), (10, "KiB")):
        if size >> shift:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def measure(size: int, operations: list[Operation], rounds: int) -> dict:
    count = size // 4
    columns = min(COLUMNS, count)
    row: dict = {"bytes": size, "gbs": {}}
    try:
        x = torch.rand(count // columns, columns).to("webgpu")
        y = torch.rand_like(x)
        loops: dict[str, common.Run] = {}
        for operation in operations:

            def loop(run=operation.run) -> object:
                return run(x, y)

            loops[operation.name] = loop
        samples = common.interleave(
            loops, rounds, torch.webgpu.synchronize, 0.01
        )
    except torch.OutOfMemoryError as error:
        return {**row, "error": str(error).splitlines()[0]}
    times = common.best(samples)
    for operation in operations:
        rate = operation.traffic * size / times[operation.name] / 1e9
        row["gbs"][operation.name] = rate
    return row


def run(operations: list[Operation], arguments: argparse.Namespace) -> dict:
    facts, rows = common.machine(), []
    title = f"scaling, {torch.webgpu.implementation()}"
    largest = arguments.largest << 20
    for size in common.progress(sizes(largest), title):
        # The largest take seconds a round, and their noise is small.
        rounds = arguments.rounds if size < 1 << 26 else 3
        rows.append(measure(size, operations, rounds))
        torch.webgpu.empty_cache()
    return {**facts, "rounds": arguments.rounds, "rows": rows}


def report(documents: list[dict]) -> str:
    """Prints the documents side by side; returns what it printed."""
    names = list(documents[0]["rows"][0]["gbs"])
    columns = ["input"]
    for document in documents:
        columns += [f"{name} {document['implementation']}" for name in names]
    rows = []
    for parts in zip(*(d["rows"] for d in documents), strict=True):
        line: list = [label(parts[0]["bytes"])]
        for part in parts:
            line += [part["gbs"].get(name) for name in names]
        rows.append(line)
    loads = ", ".join(common.cell(d["load"]) for d in documents)
    lines = [
        f"{documents[0]['adapter']}: GB/s by the size of an input; load "
        f"average before {loads}.",
        "",
        common.table(columns, rows),
    ]
    for document in documents:
        for row in document["rows"]:
            if "error" in row:
                lines.append(
                    f"\n{document['implementation']}, {label(row['bytes'])}: "
                    f"{row['error']}"
                )
    text = "\n".join(lines)
    print(text)
    return text


def main() -> int:
    parser = common.parser(__doc__)
    parser.add_argument("--rounds", type=int, help="default: 7, short 3")
    parser.add_argument(
        "--largest", type=int, help="in MiB; default: 512, short 16"
    )
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (3 if arguments.short else 7)
    arguments.largest = arguments.largest or (16 if arguments.short else 512)
    operations = common.chosen(OPERATIONS, arguments.filter, lambda o: o.name)
    if arguments.both:
        documents = common.run_both(__file__, arguments)
        common.write_json(arguments.json, {"documents": documents})
    else:
        documents = [run(operations, arguments)]
        common.write_json(arguments.json, documents[0])
    text = report(documents)
    common.replace_table(arguments.markdown, __file__, text)
    common.plot_lines(
        arguments.plot,
        "throughput by size",
        ("bytes of one input", "GB/s"),
        {
            f"{name}, {d['implementation']}": (
                [r["bytes"] for r in d["rows"] if name in r["gbs"]],
                [r["gbs"][name] for r in d["rows"] if name in r["gbs"]],
            )
            for d in documents
            for name in documents[0]["rows"][0]["gbs"]
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
