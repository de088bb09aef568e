"""Timing, tables and files of the benchmarks, without a device."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import common
import pytest


def nothing() -> None:
    pass


def test_interleave_runs_all_loops_in_turn() -> None:
    calls: list[str] = []
    loops = {
        "a": lambda: calls.append("a"),
        "b": lambda: calls.append("b"),
    }
    samples = common.interleave(loops, rounds=4, wait=nothing, at_least=0)
    assert {name: len(times) for name, times in samples.items()} == {
        "a": 4,
        "b": 4,
    }
    # After two runs of each for the calibration, the order turns around.
    assert "".join(calls) == "aabb" + "abba" * 2


def test_the_wait_for_the_device_counts() -> None:
    seconds = common.seconds_per_run(nothing, 1, lambda: time.sleep(0.02))
    assert seconds >= 0.02


def test_a_slower_loop_is_measured_as_slower() -> None:
    loops = {
        "fast": lambda: time.sleep(0.001),
        "slow": lambda: time.sleep(0.01),
    }
    times = common.best(common.interleave(loops, 3, nothing, 0.002))
    assert times["slow"] > 3 * times["fast"]


def test_geometric_mean() -> None:
    assert common.geometric_mean([1, 4, 16]) == pytest.approx(4)
    assert math.isnan(common.geometric_mean([]))


def test_a_filter_that_finds_nothing_says_so() -> None:
    assert common.chosen(["add", "mul"], "dd", str) == ["add"]
    with pytest.raises(SystemExit, match="nope"):
        common.chosen(["add", "mul"], "nope", str)


def test_table() -> None:
    made = common.table(["case", "GB/s"], [["add", 1.234], ["mul", None]])
    assert made.splitlines() == [
        "| case | GB/s |",
        "|------|-----:|",
        "| add  | 1.23 |",
        "| mul  |    - |",
    ]


def test_json(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    common.write_json(str(file), {"rows": [1.5]})
    assert json.loads(file.read_text()) == {"rows": [1.5]}


def test_tables_replace_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("A\n<!-- begin x.py -->\nold\n<!-- end x.py -->\nB\n")
    monkeypatch.setattr("sys.argv", ["x.py", "--json", "f", "--both"])
    for _ in range(2):
        common.replace_table(str(page), "bench/x.py", "| new |")
    assert page.read_text() == (
        "A\n<!-- begin x.py -->\nMade by `python bench/x.py --both`.\n\n"
        "| new |\n<!-- end x.py -->\nB\n"
    )
    with pytest.raises(SystemExit, match=r"begin y\.py"):
        common.replace_table(str(page), "bench/y.py", "")


def test_progress_yields_everything(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert list(common.progress([1, 2, 3], "work")) == [1, 2, 3]
    assert "work: 0 of 3" in capsys.readouterr().err


def test_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="it is in the extra `bench`")
    bars, lines = tmp_path / "bars.png", tmp_path / "lines.png"
    common.plot_bars(str(bars), "t", ["a", "b"], {"x": [1, None]}, [0.9, None])
    common.plot_lines(str(lines), "t", ("x", "y"), {"a": ([1, 2], [3, 4])})
    assert bars.stat().st_size > 1000 and lines.stat().st_size > 1000
