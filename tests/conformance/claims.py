"""The one list of operators that are claimed to be native on the device.

A claim names an OpInfo of torch's `op_db` ("add", or "name.variant" such as
"div.floor_rounding") and the dtypes that it holds for; of these, it holds for
the ones that the CPU's operator supports. A claim is a promise that the
operator gives the CPU's results, forward and backward, in-place and with
`out=` where torch has them, without a CPU round trip. test_claims.py checks
every one of them; docs/operators.md shows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

FLOATS = (torch.float32, torch.float16, torch.bfloat16)
INTS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
BOOL = (torch.bool,)
NUMERIC = FLOATS + INTS
INTEGRAL = INTS + BOOL
ALL = NUMERIC + BOOL


@dataclass(frozen=True)
class Claim:
    name: str
    dtypes: tuple[torch.dtype, ...]
    # Why the backward pass is not claimed.
    forward_only: str = ""
    # Why values cannot be compared (random numbers, uninitialised memory);
    # shapes, dtypes, strides and the absence of fallbacks still are.
    structure_only: str = ""


CLAIMS: dict[str, Claim] = {}


def claim(
    name: str,
    dtypes: Iterable[torch.dtype],
    *,
    forward_only: str = "",
    structure_only: str = "",
) -> None:
    if name in CLAIMS:
        raise ValueError(f"{name} is claimed twice")
    CLAIMS[name] = Claim(name, tuple(dtypes), forward_only, structure_only)


# pointwise
claim("add", ALL)
