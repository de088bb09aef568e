"""Claims that are known not to hold yet, each with its reason.

They are strict: a claim that starts to hold fails the suite until its line
here is removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class ExpectedFailure:
    name: str
    dtype: torch.dtype
    reason: str
    # "wgpu", "dawn", or "" for both.
    implementation: str = ""


EXPECTED_FAILURES: list[ExpectedFailure] = []


def expect_failure(
    name: str,
    dtypes: Iterable[torch.dtype],
    reason: str,
    *,
    implementation: str = "",
) -> None:
    for dtype in dtypes:
        EXPECTED_FAILURES.append(
            ExpectedFailure(name, dtype, reason, implementation)
        )


def reason_for(
    name: str, dtype: torch.dtype, implementation: str
) -> str | None:
    for failure in EXPECTED_FAILURES:
        if (failure.name, failure.dtype) == (name, dtype) and (
            failure.implementation in ("", implementation)
        ):
            return failure.reason
    return None
