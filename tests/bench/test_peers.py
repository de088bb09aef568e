"""What peers.py concludes, without a peer."""

from __future__ import annotations

import numpy as np
import peer_cases
import peers
import pytest
import torch


def row(ours: float, ort: float, **more: object) -> dict:
    made = {"name": "x", "exempt": False, "wrong": {}, "bar": 1.0}
    return {**made, "ms": {"ours": ours, "ort": ort}, **more}


def test_wrong_results_are_found() -> None:
    want = np.ones((2, 2), np.float32)
    assert peers.mistake(want, want, 1e-4) == ""
    assert "differs" in peers.mistake(want + 1e-2, want, 1e-4)
    assert "shape" in peers.mistake(want[0], want, 1e-4)
    assert "differs" in peers.mistake(want * [1, np.nan], want, 1e-4)


def test_verdicts() -> None:
    assert peers.verdict(row(1, 2)) == "ok"
    assert peers.verdict(row(2, 1)) == "MISSED"
    assert peers.verdict(row(2, 1, exempt=True)) == "exempt"
    assert peers.verdict(row(1, 2, bar=3.5)) == "MISSED"
    assert peers.verdict(row(1, 2, wrong={"ours": "differs"})) == "ERROR"
    assert peers.verdict({**row(1, 2), "ms": {"ours": 1}}) == ""


def test_a_missing_peer_is_left_out_by_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent() -> None:
        raise peers.Missing("pip install it")

    monkeypatch.setitem(peers.MAKERS, "ort", absent)
    assert list(peers.peers(["ort", "cpu"])) == ["cpu"]
    assert "ort is left out: pip install it" in capsys.readouterr().err


@pytest.mark.parametrize("case", peer_cases.CASES, ids=lambda c: c.name)
def test_cases_agree_with_the_cpu(case: peer_cases.PeerCase) -> None:
    arrays = case.arrays()
    torch.webgpu.reset_fallback_counts()
    got = peers.Ours().prepare(case, arrays)()
    want = peers.CpuTorch().prepare(case, arrays)()
    assert peers.mistake(got, want, case.tolerance) == ""
    assert not torch.webgpu.fallback_counts()
