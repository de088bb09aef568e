"""Claims that are known not to hold yet, each with its reason.

They are strict: what starts to hold fails the suite until its line here is
removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch

from tests.conformance.claims import FLOATS, NUMERIC


@dataclass(frozen=True)
class ExpectedFailure:
    name: str
    dtype: torch.dtype
    reason: str
    # Indices in op_db's samples; empty: the claim as a whole.
    samples: tuple[int, ...] = ()
    # "wgpu", "dawn", or "" for both.
    implementation: str = ""


EXPECTED_FAILURES: list[ExpectedFailure] = []


def expect_failure(
    name: str,
    dtypes: Iterable[torch.dtype],
    reason: str,
    *,
    samples: Iterable[int] = (),
    implementation: str = "",
) -> None:
    for dtype in dtypes:
        EXPECTED_FAILURES.append(
            ExpectedFailure(name, dtype, reason, tuple(samples), implementation)
        )


def _matching(
    name: str, dtype: torch.dtype, implementation: str
) -> Iterator[ExpectedFailure]:
    for failure in EXPECTED_FAILURES:
        if (failure.name, failure.dtype) == (name, dtype) and (
            failure.implementation in ("", implementation)
        ):
            yield failure


def reason_for(
    name: str, dtype: torch.dtype, implementation: str
) -> str | None:
    """Why the claim as a whole does not hold."""
    for failure in _matching(name, dtype, implementation):
        if not failure.samples:
            return failure.reason
    return None


def failing_samples(
    name: str, dtype: torch.dtype, implementation: str
) -> list[int]:
    """The samples that do not hold in a claim that otherwise does."""
    return [
        index
        for failure in _matching(name, dtype, implementation)
        for index in failure.samples
    ]


expect_failure(
    "pow",
    [torch.float32],
    "the gradient of the broadcast exponent adds terms of about 500 that "
    "cancel to 2; an error of one unit in the last place of the terms remains",
    samples=[6, 7],
)
expect_failure(
    "nn.functional.poisson_nll_loss",
    [torch.uint8],
    "terms of up to 92 cancel to -12; the sum's error is 4 units in the last "
    "place of the largest term, as is usual for the CPU's own sums of such",
    samples=[70],
)
NO_FLOAT64 = "the sample asks for float64, of which no kernel draws numbers"
expect_failure("rand_like", FLOATS, NO_FLOAT64, samples=[4, 6])
expect_failure("randn_like", FLOATS, NO_FLOAT64, samples=[4, 6])
expect_failure("randint", NUMERIC, NO_FLOAT64, samples=[8, 9, 12, 13])
expect_failure("randint_like", NUMERIC, NO_FLOAT64, samples=[8, 9, 12, 13])
