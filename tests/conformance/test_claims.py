"""Every claim of claims.py holds on the implementation in use."""

from __future__ import annotations

import pytest
import torch

from tests.conformance import expected_failures, harness
from tests.conformance.claims import CLAIMS
from tests.conformance.harness import dtype_name


def parameters() -> list[object]:
    implementation = torch.webgpu.implementation()  # type: ignore[attr-defined]
    result: list[object] = []
    for name, dtype in harness.claimed():
        reason = expected_failures.reason_for(name, dtype, implementation)
        marks = (
            [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
        )
        result.append(
            pytest.param(
                name, dtype, id=f"{name}-{dtype_name(dtype)}", marks=marks
            )
        )
    return result


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "dtype"), parameters())
def test_claim(name: str, dtype: torch.dtype) -> None:
    claim = CLAIMS[name]
    harness.check(
        name,
        dtype,
        limit=harness.sample_limit(),
        grad=not claim.forward_only,
        values=not claim.structure_only,
        expected=expected_failures.failing_samples(
            name, dtype, torch.webgpu.implementation()
        ),
    )


def test_claims_name_operators() -> None:
    """A claim with a wrong name, or for no dtype that the CPU has, would
    otherwise be tested by nothing."""
    pairs = {name for name, _ in harness.claimed()}
    untested = sorted(set(CLAIMS) - pairs)
    assert not untested, f"not in op_db, or for no dtype of the CPU: {untested}"


def test_expected_failures_are_claims() -> None:
    pairs = set(harness.claimed())
    stale = [
        f"{failure.name} {dtype_name(failure.dtype)}"
        for failure in expected_failures.EXPECTED_FAILURES
        if (failure.name, failure.dtype) not in pairs
    ]
    assert not stale, f"expected to fail but not claimed: {stale}"
