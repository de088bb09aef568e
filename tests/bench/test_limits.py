"""limits.py end to end, its references, and that its floors can fail."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import cases
import limits
import plain
import pytest
import torch

import torch_webgpu._C as _C
from tests.bench.conftest import ROOT

ELEMENTS = 1 << 16  # divided by no workgroup's work of the longest loops


@pytest.mark.parametrize("kind", plain.KINDS)
def test_plain_kernels_do_their_work(kind: str) -> None:
    """A reference that skipped a part would be too good."""
    a, b = (torch.rand(ELEMENTS) for _ in range(2))
    want = {"copy": a, "scale": 2 * a, "add": a + b, "fill": torch.ones_like(a)}
    inputs = [t.to("webgpu") for t in (a, b)[: plain.KINDS[kind].inputs]]
    for shape in plain.shapes(kind, short=False):
        out = torch.zeros(ELEMENTS, device="webgpu")
        if kind != "read":
            plain.launcher(kind, shape, [*inputs, out])()
            assert torch.equal(out.cpu(), want[kind]), shape
            continue
        # Made to show what it has read.
        shown = dataclasses.replace(
            plain.KINDS[kind],
            end=f"o[g * {shape.workgroup}u + l] = s;",
        )
        wgsl, groups = plain.text(shown, shape, ELEMENTS // 4)
        kernel = _C.UserKernel("read", wgsl, "main", [False, True], True)
        kernel.launch(*inputs, out, grid=plain.fold(groups))
        torch.testing.assert_close(out.cpu().sum(), a.sum())


@pytest.mark.parametrize("shape", plain.MATMUL_SHAPES)
def test_plain_products_are_products(shape: tuple[int, int, int]) -> None:
    a, b = (torch.rand(128, 128) for _ in range(2))
    out = torch.zeros(128, 128, device="webgpu")
    plain.matmul_launcher(*shape, [a.to("webgpu"), b.to("webgpu"), out])()
    torch.testing.assert_close(out.cpu(), a @ b)


def test_every_case_has_a_reference_and_a_limit() -> None:
    names = [case.name for case in cases.CASES]
    assert len(set(names)) == len(names)
    for case in cases.CASES:
        _, plainly, kind = case.against.partition("plain ")
        if plainly:
            assert kind in plain.KINDS or kind.startswith("matmul ")
        else:
            assert case.against in {"buffer copy", *names} - {case.name}
        floor, bar = case.lowest(), case.bar
        assert floor and (bar is None or floor < bar), case.name
    assert set(names) >= cases.SHORT


def test_one_case_end_to_end(tmp_path: Path) -> None:
    file = tmp_path / "limits.json"
    options = "--short --rounds 1 --filter relu --json".split()
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench/limits.py"), *options, file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "relu" in done.stdout, done.stderr
    row = json.loads(file.read_text())["rows"][0]
    assert row["ratio"] == pytest.approx(row["rate"] / row["reference_rate"])
    assert row["against"] == "plain scale" and "error" not in row
    # Whether it is fast enough is not this test's business, but that the exit
    # code says so.
    assert done.returncode == int(row["ratio"] < row["floor"])


def test_a_slow_family_falls_below_its_floor(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def crawl(data: cases.Data) -> None:
        for _ in range(20):  # twenty times the work that it claims
            data.o.relu_()

    slow = cases.Case("planted", "plain scale", 2 * cases.W, crawl, 0.9)
    row = limits.Runner(short=True, rounds=1).measure(slow)
    assert limits.verdict(row, "floor") == "MISSED"
    document = {
        "implementation": torch.webgpu.implementation(),
        "adapter": "",
        "torch": "",
        "elements": cases.N,
        "rounds": 1,
        "places": 1,
        "seconds": 0.0,
        "load": 0.0,
        "limit": "floor",
        "rows": [row],
    }
    good, table = limits.report([document])
    assert not good and "MISSED" in table
    assert "planted reaches" in capsys.readouterr().out


def test_a_case_that_falls_back_is_an_error() -> None:
    small = torch.rand(4, 4).to("webgpu")
    slow = cases.Case(
        "planted",
        "plain scale",
        1,
        lambda data: torch.linalg.det(small),
        floor=1e-12,
    )
    row = limits.Runner(short=True, rounds=1).measure(slow)
    assert limits.verdict(row, "floor") == "ERROR"
    assert "ran on the CPU" in row["error"]
