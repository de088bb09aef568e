"""Runs torch's own operator samples on the device and on the CPU.

`check` is the whole test of one operator and dtype: forward, backward,
in-place and `out=`, against the CPU, with no fallback counted.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import torch
from torch.testing._internal.common_device_type import (
    precisionOverride,
    toleranceOverride,
)
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_leaves

from tests.conformance import core
from tests.conformance.claims import CLAIMS
from tests.conformance.core import (
    DEVICE,
    SEED,
    WIDER,
    DeviceFallbacks,
    Fallbacks,
    Outcome,
    Placed,
    Tolerance,
)

# How many samples of an operator the in-place and `out=` forms are tried on.
VARIANT_SAMPLES = 4
# Operators whose arguments after the first have to be on the CPU.
HOST_ARGUMENTS = ("tensor_split",)
SAMPLES_VARIABLE = "TORCH_WEBGPU_CONFORMANCE_SAMPLES"


@cache
def op_infos() -> dict[str, OpInfo]:
    """Every OpInfo by its full name, "name" or "name.variant"."""
    return {op.full_name: op for op in op_db}


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def claimed() -> list[tuple[str, torch.dtype]]:
    """The claimed pairs that the CPU can judge."""
    return [
        (claim.name, dtype)
        for claim in CLAIMS.values()
        if claim.name in op_infos()
        for dtype in claim.dtypes
        if op_infos()[claim.name].supports_dtype(dtype, "cpu")
    ]


def sample_limit() -> int | None:
    """How many samples per operator and dtype; None is every one."""
    text = os.environ.get(SAMPLES_VARIABLE, "all")
    if text == "all":
        return None
    if not text.isdigit() or int(text) < 1:
        raise ValueError(
            f'{SAMPLES_VARIABLE}={text!r}: use a positive number or "all"'
        )
    return int(text)


def spread(items: Sequence[Any], limit: int | None) -> list[Any]:
    """At most `limit` items, evenly spread, the first and last included."""
    if limit is None or len(items) <= limit:
        return list(items)
    if limit == 1:
        return [items[0]]
    step = (len(items) - 1) / (limit - 1)
    return [items[round(i * step)] for i in range(limit)]


def supports_grad(op: OpInfo, dtype: torch.dtype) -> bool:
    return dtype in op.supported_backward_dtypes("cpu")


def samples(
    op: OpInfo,
    dtype: torch.dtype,
    *,
    grad: bool,
    limit: int | None,
    among: int | None = None,
) -> list[tuple[int, SampleInput]]:
    """The samples of an operator on the CPU, with their indices; `among`
    draws only that many, which is quicker."""
    random.seed(SEED)
    torch.manual_seed(SEED)
    every = op.sample_inputs("cpu", dtype, requires_grad=grad)
    drawn = enumerate(islice(every, among))
    return spread([item for item in drawn if _names_device(item[1])], limit)


def _names_device(sample: SampleInput) -> bool:
    """False for arange(1, 3, 1): without a device it is the CPU's."""
    leaves = tree_leaves((sample.input, sample.args, sample.kwargs))
    return any(
        isinstance(leaf, (torch.Tensor, torch.device)) or leaf == "cpu"
        for leaf in leaves
    )


def tolerance_of(op: OpInfo, dtype: torch.dtype) -> Tolerance:
    """What torch grants this operator when it compares a device with the
    CPU, which it does in TestCommon.test_compare_cpu."""
    result = Tolerance()
    for decorator in op.get_decorators(
        "TestCommon", "test_compare_cpu", DEVICE, dtype, {}
    ):
        if isinstance(decorator, toleranceOverride) and dtype in decorator.d:
            bounds = decorator.d[dtype]
            return Tolerance(rtol=bounds.rtol, atol=bounds.atol)
        if isinstance(decorator, precisionOverride) and dtype in decorator.d:
            result = Tolerance(atol=decorator.d[dtype])
    return result


@dataclass
class Case:
    """One sample of one operator, and how to judge what the device gives."""

    op: OpInfo
    dtype: torch.dtype
    index: int
    sample: SampleInput
    grad: bool
    values: bool = True
    device: str = DEVICE

    @property
    def call(self) -> tuple[Any, Any]:
        return (self.sample.input, *self.sample.args), self.sample.kwargs

    def place(self, device: str, dtypes: Any = None) -> Placed:
        if self.op.name in HOST_ARGUMENTS:
            placed = core.place((self.sample.input,), {}, device, dtypes)
            placed.args += self.sample.args
            return placed
        args, kwargs = self.call
        return core.place(args, kwargs, device, dtypes)

    def run(
        self, placed: Placed, fallbacks: Fallbacks | None = None
    ) -> Outcome:
        return core.run(
            self.op,
            placed,
            grad=self.grad,
            process=self.sample.output_process_fn_grad,
            fallbacks=fallbacks,
        )

    def oracle(self) -> Outcome:
        return self.run(self.place("cpu"))

    def measure(self, fallbacks: Fallbacks) -> Outcome:
        return self.run(self.place(self.device), fallbacks)

    def exact(self) -> Outcome:
        """The CPU's answer in the wider dtype, or nothing where the operator
        has none."""
        try:
            return self.run(_wide(self))
        except Exception:
            return Outcome([])

    def meta_outputs(self) -> Sequence[Any]:
        try:
            return core.run(self.op, self.place("meta")).outputs
        except Exception:
            return []

    def judge(self, got: Outcome, want: Outcome) -> None:
        """Raises AssertionError where the device is not right."""
        tolerance = tolerance_of(self.op, self.dtype)
        exact = cache(self.exact)
        core.compare_all(
            "output",
            got.outputs,
            want.outputs,
            device=self.device,
            tolerance=tolerance,
            exact=lambda: exact().outputs,
            strides=self.meta_outputs,
            values=self.values,
        )
        core.compare_all(
            "gradient",
            got.grads,
            want.grads,
            device=self.device,
            tolerance=tolerance,
            exact=lambda: exact().grads,
            values=self.values,
            derived=True,
        )

    def describe(self) -> str:
        text = self.sample.summary().replace("\n", " ")
        return f"sample {self.index}: {text[:400]}"


class NothingRan(AssertionError):
    """The CPU refused every sample, so nothing was tested."""


def _drops(name: str, sample: SampleInput) -> bool:
    """Attention with dropout: only its shapes can be compared."""
    if name == "nn.functional.multi_head_attention_forward":
        dropout_p = sample.args[9]  # after the input, key, value …
        return bool(dropout_p) and sample.kwargs.get("training", True)
    return bool(sample.kwargs.get("dropout_p"))


def cases(
    name: str,
    dtype: torch.dtype,
    *,
    limit: int | None,
    among: int | None = None,
    grad: bool = True,
    values: bool = True,
    device: str = DEVICE,
) -> list[Case]:
    op = op_infos()[name]
    grad = grad and supports_grad(op, dtype)
    return [
        Case(
            op,
            dtype,
            index,
            sample,
            grad,
            values and not _drops(name, sample),
            device,
        )
        for index, sample in samples(
            op, dtype, grad=grad, limit=limit, among=among
        )
    ]


def with_oracle(items: Sequence[Case]) -> Iterator[tuple[Case, Outcome]]:
    """Every case that the CPU itself can compute, with its result."""
    for case in items:
        try:
            yield case, case.oracle()
        except Exception:
            continue


def check(
    name: str,
    dtype: torch.dtype,
    *,
    limit: int | None = None,
    grad: bool = True,
    values: bool = True,
    device: str = DEVICE,
    fallbacks: Fallbacks | None = None,
    expected: Collection[int] = (),
) -> None:
    """Asserts that the device has the operator natively for this dtype, but
    that the samples of these indices fail if they are run."""
    fallbacks = fallbacks or DeviceFallbacks()
    items = cases(
        name, dtype, limit=limit, grad=grad, values=values, device=device
    )
    failures: list[str] = []
    failed: set[int] = set()
    ran = 0

    def attempt(case: Case, form: str, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            failed.add(case.index)
            if case.index not in expected:
                kind = type(error).__name__
                text = f"{form}, {case.describe()}\n  {kind}: {error}"
                failures.append(text)

    for case, want in with_oracle(items):
        ran += 1

        def forward(case: Case = case, want: Outcome = want) -> None:
            got = case.measure(fallbacks)
            case.judge(got, want)
            core.assert_no_fallbacks(got.fallbacks)

        attempt(case, "call", forward)
    for case in spread(items, VARIANT_SAMPLES):
        for form, action in variants(case, fallbacks):
            attempt(case, form, action)
    if not ran:
        raise NothingRan(
            f"{name} {dtype}: the CPU computes none of its samples"
        )
    for case in items:
        if case.index in expected and case.index not in failed:
            failures.append(f"{case.describe()}\n  is expected to fail")
    if failures:
        shown = "\n".join(failures[:3])
        raise AssertionError(
            f"{name} {dtype_name(dtype)}: {len(failures)} failures in "
            f"{ran} samples\n{shown}"
        )


def variants(
    case: Case, fallbacks: Fallbacks
) -> Iterator[tuple[str, Callable[[], None]]]:
    """The in-place and `out=` forms of a sample that the CPU accepts."""
    inplace = case.op.get_inplace()
    if inplace is not None and not case.sample.broadcasts_input:
        yield "in-place", lambda: check_inplace(case, inplace, fallbacks)
    if case.op.supports_out:
        for form in ("same", "empty", "transposed"):
            yield (
                f"out= ({form})",
                lambda form=form: check_out(  # type: ignore[misc]
                    case, form, fallbacks
                ),
            )


def check_inplace(
    case: Case, inplace: Callable[..., Any], fallbacks: Fallbacks
) -> None:
    """The in-place form, which must also leave the rest of the storages that
    it was given as the CPU does."""
    want_args = case.place("cpu")
    try:
        want = core.run(inplace, want_args)
    except Exception:
        return
    got_args = case.place(case.device)
    got = core.run(inplace, got_args, fallbacks=fallbacks)

    def exact() -> tuple[Outcome, Placed]:
        placed = _wide(case)
        try:
            return core.run(inplace, placed), placed
        except Exception:
            return Outcome([]), Placed((), {}, [])

    tolerance = tolerance_of(case.op, case.dtype)
    core.compare_all(
        "in-place result",
        got.outputs,
        want.outputs,
        device=case.device,
        tolerance=tolerance,
        exact=lambda: exact()[0].outputs,
        values=case.values,
    )
    core.compare_all(
        "storage after in-place",
        got_args.bases,
        want_args.bases,
        device=case.device,
        tolerance=tolerance,
        exact=lambda: exact()[1].bases,
        values=case.values,
    )
    core.assert_no_fallbacks(got.fallbacks)


def _out_like(expected: torch.Tensor, form: str, device: str) -> torch.Tensor:
    if form == "empty":
        shape: Sequence[int] = (0,)
    else:
        shape = tuple(expected.shape)
    if form == "transposed":
        out = torch.empty(tuple(reversed(shape)), dtype=expected.dtype)
        out = out.permute(tuple(reversed(range(len(shape)))))
    else:
        out = torch.empty(shape, dtype=expected.dtype)
    out.fill_(1)
    return core.place((out,), {}, device).args[0]


def check_out(case: Case, form: str, fallbacks: Fallbacks) -> None:
    """`out=` of the right shape, of no elements (to be resized), and with
    other strides (to be kept).

    The CPU gets only the first form, the meta device says whether torch
    accepts the others: several of the CPU's operators, tril among them, write
    outside of an `out=` with other strides.
    """

    def outs(like: Sequence[torch.Tensor], form: str, device: str) -> Any:
        made = [_out_like(e, form, device) for e in like]
        return made[0] if len(made) == 1 else tuple(made)

    try:
        want = core.run(case.op, case.place("cpu")).outputs
        trial = case.place("cpu")
        trial.kwargs["out"] = outs(want, "same", "cpu")
        core.run(case.op, trial)
        trial = case.place("meta")
        trial.kwargs["out"] = outs(want, form, "meta")
        core.run(case.op, trial)
    except Exception:
        return
    placed = case.place(case.device)
    placed.kwargs["out"] = outs(want, form, case.device)
    given = tree_leaves(placed.kwargs["out"])
    strides = [out.stride() for out in given]
    got = core.run(case.op, placed, fallbacks=fallbacks)
    core.compare_all(
        "out",
        given,
        want,
        device=case.device,
        tolerance=tolerance_of(case.op, case.dtype),
        exact=lambda: core.run(case.op, _wide(case)).outputs,
        values=case.values,
    )
    for returned, out in zip(got.outputs, given, strict=False):
        if returned is not None and returned.data_ptr() != out.data_ptr():
            raise AssertionError("the call returns another tensor than out=")
    for out, before in zip(given, strides, strict=True):
        if out.numel() and form == "transposed" and out.stride() != before:
            raise AssertionError(
                f"out= had strides {before}, now has {out.stride()}"
            )
    core.assert_no_fallbacks(got.fallbacks)


def _wide(case: Case) -> Placed:
    wide = {case.dtype: WIDER.get(case.dtype, case.dtype)}
    return case.place("cpu", wide)
