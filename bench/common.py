"""What the benchmarks share: timing, progress, tables, JSON and plots.

Nothing here needs a device: what waits for one is passed in.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

IMPLEMENTATIONS = ("wgpu", "dawn")

# Options that are the caller's own business when it starts a process each.
NOT_PASSED = ("both", "json", "plot", "markdown")

Item = TypeVar("Item")
Run = Callable[[], object]
Samples = dict[str, list[float]]


# --- Timing ----------------------------------------------------------------
def seconds_per_run(run: Run, count: int, wait: Run) -> float:
    """Wall-clock seconds of one of `count` runs, the device's end included."""
    wait()
    begin = time.perf_counter()
    for _ in range(count):
        run()
    wait()
    return (time.perf_counter() - begin) / count


def calibrate(run: Run, wait: Run, at_least: float, most: int = 256) -> int:
    """How many runs fill a sample of `at_least` seconds; also warms up."""
    seconds_per_run(run, 1, wait)  # compiles pipelines, fills caches
    once = seconds_per_run(run, 1, wait)
    return max(1, min(most, math.ceil(at_least / max(once, 1e-7))))


def interleave(
    loops: Mapping[str, Run], rounds: int, wait: Run, at_least: float
) -> Samples:
    """Times the loops in turn, round by round.

    A busy machine then disturbs all of them alike. The order turns around in
    every second round, so that none always follows the same other.
    """
    counts = {n: calibrate(run, wait, at_least) for n, run in loops.items()}
    samples: Samples = {name: [] for name in loops}
    order = list(loops)
    for _ in range(rounds):
        for name in order:
            samples[name].append(
                seconds_per_run(loops[name], counts[name], wait)
            )
        order.reverse()
    return samples


def best(samples: Samples) -> dict[str, float]:
    return {name: min(values) for name, values in samples.items()}


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


# --- Command line ----------------------------------------------------------
def parser(description: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    made.add_argument("--json", metavar="FILE", help="write the figures there")
    made.add_argument("--plot", metavar="FILE", help="draw them (matplotlib)")
    made.add_argument(
        "--markdown",
        metavar="FILE",
        help="replace the table between this script's marks there",
    )
    made.add_argument(
        "--short", action="store_true", help="a quick look: fewer cases, rounds"
    )
    made.add_argument(
        "--filter", default="", help="only cases with this in their name"
    )
    made.add_argument(
        "--both",
        action="store_true",
        help="one process for each implementation, one table for both",
    )
    return made


def chosen(names: Iterable[Item], text: str, key: Callable[[Item], str]) -> Any:
    found = [item for item in names if text in key(item)]
    if not found:
        raise SystemExit(f"no case has {text!r} in its name")
    return found


def run_both(script: str, arguments: argparse.Namespace) -> list[dict]:
    """The documents of `script` under each implementation, made in turn."""
    passed = []
    for name, value in vars(arguments).items():
        if name in NOT_PASSED or value in (None, False):
            continue
        passed += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    documents = []
    with tempfile.TemporaryDirectory() as folder:
        for implementation in IMPLEMENTATIONS:
            file = Path(folder) / f"{implementation}.json"
            subprocess.run(
                [sys.executable, script, *passed, "--json", str(file)],
                env={**os.environ, "TORCH_WEBGPU_IMPL": implementation},
                stdout=subprocess.DEVNULL,  # the caller prints one table
                check=False,  # a missed bar is in the document
            )
            if not file.exists():
                raise SystemExit(f"{script} failed under {implementation}")
            documents.append(json.loads(file.read_text(encoding="utf-8")))
    return documents


def machine() -> dict[str, Any]:
    """What the figures hold for; called before the work."""
    import torch

    info = torch.webgpu.adapter_info()
    return {
        "implementation": info["implementation"],
        "adapter": info["name"],
        "driver": info["description"],
        "torch": torch.__version__,
        "load": os.getloadavg()[0],
    }


# --- Output ----------------------------------------------------------------
def progress(items: Sequence[Item], title: str) -> Iterator[Item]:
    """A bar on a terminal, one line for each tenth in a log."""
    if sys.stderr.isatty():
        yield from tqdm(items, desc=title)
        return
    tenth = 0
    for i, item in enumerate(items):
        if i * 10 // len(items) >= tenth:
            print(f"{title}: {i} of {len(items)}", file=sys.stderr, flush=True)
            tenth = i * 10 // len(items) + 1
        yield item


def table(columns: Sequence[str], rows: Sequence[Sequence]) -> str:
    """As Markdown; the first column is text, the others are figures."""
    cells = [list(columns), *([cell(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        padded = [row[0].ljust(widths[0])]
        padded += [
            text.rjust(width)
            for text, width in zip(row[1:], widths[1:], strict=True)
        ]
        lines.append(f"| {' | '.join(padded)} |")
    rule = [f"{'-' * width}-:" for width in widths[1:]]
    lines.insert(1, f"|{'|'.join(['-' * (widths[0] + 2), *rule])}|")
    return "\n".join(lines)


def replace_table(path: str | None, script: str, text: str) -> None:
    """Puts `text` between the marks of `script` in a Markdown file."""
    if not path:
        return
    file, name = Path(path), Path(script).name
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    page = file.read_text(encoding="utf-8")
    if page.count(begin) != 1 or page.count(end) != 1:
        raise SystemExit(f"{path} must have {begin} and {end} once")
    before, _, rest = page.partition(begin)
    after = rest.partition(end)[2]
    # Without where else the figures went.
    options = re.sub(r"--(json|plot)[= ]\S+ ?", "", shlex.join(sys.argv[1:]))
    command = f"python bench/{name} {options}".strip()
    made = f"Made by `{command}`.\n\n{text}"
    file.write_text(f"{before}{begin}\n{made}\n{end}{after}", encoding="utf-8")


def cell(value: object) -> str:
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"


def write_json(path: str | None, document: dict) -> None:
    if path:
        text = json.dumps(document, indent=1)
        Path(path).write_text(text + "\n", encoding="utf-8")


def pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise SystemExit(
            "--plot needs matplotlib: pip install 'torch-webgpu[bench]'"
        ) from None
    matplotlib.use("Agg")  # no display
    from matplotlib import pyplot as plt

    return plt


def plot_bars(
    path: str | None,
    title: str,
    names: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    marks: Sequence[float | None],
) -> None:
    """Horizontal bars by name, one colour a series; a mark for each bar."""
    if not path:
        return
    plt = pyplot()
    height = 0.8 / max(1, len(series))
    figure, axes = plt.subplots(figsize=(8, 1.5 + 0.25 * len(names)))
    for i, (label, values) in enumerate(series.items()):
        places = [k + i * height for k in range(len(names))]
        axes.barh(places, [v or 0 for v in values], height, label=label)
    for k, mark in enumerate(marks):
        if mark is not None:
            axes.plot([mark, mark], [k - 0.1, k + 0.7], "k-", linewidth=1.5)
    axes.set_yticks([k + 0.4 - height / 2 for k in range(len(names))], names)
    axes.invert_yaxis()
    axes.set_title(title)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def plot_lines(
    path: str | None,
    title: str,
    axis_names: tuple[str, str],
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
) -> None:
    if not path:
        return
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(8, 5))
    for label, (x, y) in series.items():
        axes.plot(x, y, marker="o", markersize=3, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel(axis_names[0])
    axes.set_ylabel(axis_names[1])
    axes.set_title(title)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
