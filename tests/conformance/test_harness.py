"""The harness can fail: each kind of fault is planted and must be found.

Here the CPU plays the device, so that only the planted fault can differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conformance import core, harness, report, survey
from tests.conformance.core import NoFallbacks, Outcome, Placed
from tests.conformance.test_implementations import differences
from tests.ops import against_cpu

Fn = Callable[..., Any]
Fault = Callable[[Fn], Fn]


class Counter:
    """A fallback counter that counts what faults report to it."""

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}

    def reset(self) -> None:
        self.seen = {}

    def counts(self) -> Mapping[str, int]:
        return self.seen


counter = Counter()


def plant(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    """Lets the runs of the device, which are those that count fallbacks,
    call `fault(fn)`."""
    run = core.run

    def faulty(fn: Fn, placed: Placed, **options: Any) -> Outcome:
        device = options.get("fallbacks") is not None
        return run(fault(fn) if device else fn, placed, **options)

    monkeypatch.setattr(core, "run", faulty)


def after(change: Callable[[Any], Any]) -> Fault:
    def fault(fn: Fn) -> Fn:
        return lambda *args, **kwargs: change(fn(*args, **kwargs))

    return fault


def fall_back(result: Any) -> Any:
    counter.seen["aten::add.out"] = 1
    return result


class WrongGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return grad * 1.01


class CountingGradient(WrongGradient):
    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        fall_back(grad)
        return grad


class RaisingGradient(WrongGradient):
    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        raise RuntimeError("no backward here")


def refuse(result: Any) -> Any:
    raise RuntimeError("no kernel")


def nudge(result: torch.Tensor) -> torch.Tensor:
    """One element off by one percent."""
    change = torch.zeros_like(result)
    change.view(-1)[-1:] = 0.01
    return result + change * (result.detach().abs() + 1)


def strided(result: torch.Tensor) -> torch.Tensor:
    if result.dim() != 2:
        return result
    return result.t().contiguous().t()


def poison_neighbours(fn: Fn) -> Fn:
    """In place, writes to the whole storage in place of the view."""

    def wrapped(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        result = fn(x, *args, **kwargs)
        flat = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage())
        flat[-1] += 1
        return result

    return wrapped


FAULTS: dict[str, tuple[Fault, str]] = {
    "value": (after(nudge), "output: .* elements"),
    "nan": (after(lambda r: r * float("nan")), "output"),
    "dtype": (after(lambda r: r.double()), "dtype torch.float64"),
    "shape": (after(lambda r: r.unsqueeze(0)), "shape"),
    "strides": (after(strided), "strides"),
    "count": (after(lambda r: (r, r)), "2 values"),
    "type": (after(lambda r: 1.0), "where the CPU gives a tensor"),
    "exception": (after(refuse), "RuntimeError: no kernel"),
    "fallback": (after(fall_back), "fell back to the CPU: aten::add.out"),
    "gradient": (after(WrongGradient.apply), "gradient"),
    "gradient fallback": (after(CountingGradient.apply), "fell back"),
    "gradient exception": (after(RaisingGradient.apply), "no backward here"),
}


def check(name: str, dtype: torch.dtype = torch.float32) -> None:
    harness.check(name, dtype, limit=6, device="cpu", fallbacks=counter)


def test_no_fault_no_failure() -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
        check("add", dtype)


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, message = FAULTS[fault]
    plant(monkeypatch, plan)
    with pytest.raises(AssertionError, match=message):
        check("add")


@pytest.mark.parametrize("fault", ["value", "fallback", "exception"])
@pytest.mark.parametrize("form", ["inplace", "out"])
def test_fault_in_a_variant_is_found(
    fault: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, _ = FAULTS[fault]
    if fault == "value":
        # The call returns what it wrote; the fault is in what it wrote.
        plan = after(lambda r: r.add_(1))
    plant(monkeypatch, plan)
    inplace = harness.op_infos()["add"].get_inplace()
    failures = 0
    for case in harness.cases("add", torch.float32, limit=6, device="cpu"):
        try:
            if form == "inplace":
                harness.check_inplace(case, inplace, counter)
            else:
                for out in ("same", "empty", "transposed"):
                    harness.check_out(case, out, counter)
        except (AssertionError, RuntimeError):
            failures += 1
    assert failures


def test_out_that_is_ignored_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def ignore(fn: Fn) -> Fn:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            kwargs.pop("out", None)
            return fn(*args, **kwargs)

        return wrapped

    plant(monkeypatch, ignore)
    with pytest.raises(AssertionError, match="out= \\(same\\)"):
        check("add")


def test_out_of_other_strides_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def restride(fn: Fn) -> Fn:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            out = kwargs.get("out")
            result = fn(*args, **kwargs)
            if out is not None and out.dim() == 2:
                out.set_(out.clone(memory_format=torch.contiguous_format))
            return result

        return wrapped

    plant(monkeypatch, restride)
    with pytest.raises(AssertionError, match="had strides"):
        check("add")


def test_write_beside_a_view_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.zeros(8, dtype=torch.uint8)[1:5]
    options: Any = {"device": "cpu", "fallbacks": counter}
    against_cpu.check(torch.Tensor.add_, x, 1, **options)
    plant(monkeypatch, poison_neighbours)
    with pytest.raises(AssertionError, match="storage of the arguments"):
        against_cpu.check(torch.Tensor.add_, x, 1, **options)


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_found_by_the_helper(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, message = FAULTS[fault]
    plant(monkeypatch, plan)
    x = against_cpu.make((3, 4))
    error = RuntimeError if "exception" in fault else AssertionError
    with pytest.raises(error, match=message.removeprefix("RuntimeError: ")):
        against_cpu.check(
            torch.mul, x, x, grad=True, device="cpu", fallbacks=counter
        )


def test_wider_dtype_decides_only_what_is_right() -> None:
    """bfloat16 adds to 256 one at a time and stays there; a device that
    accumulates in float32 is right, one that is off by 3 % is not."""
    cpu = torch.tensor([256.0], dtype=torch.bfloat16)
    exact = torch.tensor([300.0])

    def judge(value: float) -> None:
        got = torch.tensor([value], dtype=torch.bfloat16)
        core.compare_values("x", got, cpu, core.Tolerance(), lambda: exact)

    for right in (256.0, 300.0, 290.0):
        judge(right)
    for wrong in (210.0, 350.0, float("nan"), float("inf")):
        with pytest.raises(AssertionError):
            judge(wrong)


def test_derived_is_no_worse_than_the_cpu() -> None:
    """In 16 bits a gradient may err as much as the CPU's worst element, not
    more, and a forward result may not."""
    exact = torch.tensor([1.0, 100.0])
    cpu = torch.tensor([1.0, 101.0], dtype=torch.float16)

    def judge(value: float, derived: bool) -> None:
        got = torch.tensor([value, 100.0], dtype=torch.float16)
        tolerance = core.Tolerance()
        core.compare_values("x", got, cpu, tolerance, lambda: exact, derived)

    judge(1.5, True)
    for value, derived in ((1.5, False), (2.5, True), (float("nan"), True)):
        with pytest.raises(AssertionError):
            judge(value, derived)


def test_expected_failures_are_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(expected: tuple[int, ...]) -> None:
        harness.check(
            "add",
            torch.float32,
            device="cpu",
            fallbacks=counter,
            expected=expected,
        )

    with pytest.raises(AssertionError, match="expected to fail"):
        run((3,))
    plant(monkeypatch, FAULTS["dtype"][0])
    every = range(len(harness.cases("add", torch.float32, limit=None)))
    run(tuple(every))
    with pytest.raises(AssertionError, match="sample 3:"):
        run(tuple(i for i in every if i != 3))


def test_tolerance_is_torchs() -> None:
    add, acos = harness.op_infos()["add"], harness.op_infos()["acos"]
    assert harness.tolerance_of(add, torch.float32) == core.Tolerance()
    assert harness.tolerance_of(acos, torch.float16).atol == 1e-2
    assert harness.tolerance_of(acos, torch.float32) == core.Tolerance()
    assert core.Tolerance(atol=1).for_dtype(torch.int32) == (0, 0)
    assert core.Tolerance(atol=1).for_dtype(torch.float32) == (1.3e-6, 1)


def test_nothing_to_run_is_a_failure() -> None:
    with pytest.raises(harness.NothingRan):
        check("jiterator_unary")


def test_sample_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert harness.spread(range(10), 4) == [0, 3, 6, 9]
    assert harness.spread(range(3), 4) == [0, 1, 2]
    monkeypatch.setenv(harness.SAMPLES_VARIABLE, "all")
    assert harness.sample_limit() is None
    monkeypatch.setenv(harness.SAMPLES_VARIABLE, "0")
    with pytest.raises(ValueError, match="positive"):
        harness.sample_limit()


def test_layout_survives_the_journey() -> None:
    base = torch.arange(40.0).view(5, 8)
    tensors = (base[1:, ::2], base.t(), base[:1].expand(3, 8), base[2:2])
    placed = core.place(tensors, {}, "cpu")
    assert len(placed.bases) == 1
    for a, b in zip(placed.args, tensors, strict=True):
        assert torch.equal(a, b)
        assert a.stride() == b.stride()
        assert a.storage_offset() == b.storage_offset()
        assert a.untyped_storage().data_ptr() != base.data_ptr()


@pytest.mark.parametrize(
    ("fault", "mark"),
    [
        ("value", survey.WRONG),
        ("exception", survey.UNSUPPORTED),
        ("fallback", survey.FALLBACK),
        ("gradient fallback", survey.FORWARD),
        ("gradient exception", survey.FORWARD),
    ],
)
def test_survey_marks(
    fault: str, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure() -> str:
        return survey.measure(
            "mul", torch.float32, device="cpu", fallbacks=counter
        )[0]

    assert measure() == survey.NATIVE
    plant(monkeypatch, FAULTS[fault][0])
    assert measure() == mark


def test_surveyor_outlives_its_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that crashes, hangs or answers, each in turn."""
    import subprocess
    import sys

    script = (
        "import json, os, sys, time\n"
        "for line in sys.stdin:\n"
        "  job = json.loads(line)\n"
        "  if job['name'] == 'crash': os.abort()\n"
        "  if job['name'] == 'hang': time.sleep(60)\n"
        "  print(json.dumps(job | {'mark': 'N', 'note': ''}), flush=True)\n"
    )

    def start(implementation: str, *arguments: str, **options: Any) -> Any:
        command = [sys.executable, "-c", script]
        return subprocess.Popen(command, text=True, **options)

    monkeypatch.setattr(survey.worker, "start", start)
    monkeypatch.setattr(survey, "SECONDS_PER_CASE", 2)
    jobs = [{"name": n, "dtype": "int8"} for n in ("a", "crash", "hang", "b")]
    results = survey.Surveyor("wgpu", tmp_path / "log").run(jobs)
    assert [r["mark"] for r in results] == ["N", "-", "-", "N"], json.dumps(
        results
    )


def test_report_shows_and_finds_what_changed() -> None:
    marks = {
        ("add", "float32"): {"wgpu": "N", "dawn": "N"},
        ("add", "int8"): {"wgpu": "N", "dawn": "c"},
    }
    text = report.document(marks, ["add"])
    assert "| N/c |" in text.replace("**", "")
    assert not report.stale_lines(text, report.rows(marks, ["add"]))
    marks["add", "int8"]["dawn"] = "N"
    assert report.stale_lines(text, report.rows(marks, ["add"]))


def test_report_finds_claims_that_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    marks = {("add", "float32"): {"wgpu": "N", "dawn": "N"}}
    text = report.document(marks, ["add"])
    assert not report.stale_claims(text)
    monkeypatch.setattr(report.harness, "claimed", lambda: [])
    assert report.stale_claims(text) == ["add float32 is no longer claimed"]
    text = report.document(marks, ["add"])
    monkeypatch.undo()
    assert report.stale_claims(text) == ["add float32 is claimed"]


def test_differences_between_implementations_are_found() -> None:
    def result(value: float) -> dict[str, Any]:
        return {"add-float32-0": [[torch.tensor([value])], []]}

    names = ("wgpu", "dawn")
    assert not differences(result(1.0), result(1.0), names)
    assert differences(result(1.0), result(1.0001), names)
    assert differences(result(1.0), {"add-float32-0": "RuntimeError"}, names)


def test_no_fallbacks_counter_counts_nothing() -> None:
    seen: dict[str, int] = {}
    with core.counting(NoFallbacks(), seen):
        torch.ones(1)
    assert seen == {}


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_tricky_layouts_are_tricky(dtype: torch.dtype) -> None:
    tensors = dict(against_cpu.tricky(dtype))
    assert tensors["odd unaligned"].storage_offset() == 1
    assert not tensors["matrix stepped"].is_contiguous()
    assert tensors["matrix expanded"].stride(0) == 0
    assert tensors["eight sliced"].dim() == 8
    assert max(abs(x.double()).max() for x in tensors.values() if x.numel())
