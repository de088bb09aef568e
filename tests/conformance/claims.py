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

# linear algebra
claim("mm", NUMERIC)
claim("addmm", NUMERIC)
claim("addmm.decomposed", NUMERIC)
claim("bmm", NUMERIC)
claim("baddbmm", NUMERIC)
claim("addbmm", NUMERIC)
claim("mv", NUMERIC)
claim("addmv", NUMERIC)
claim("dot", NUMERIC)
claim("vdot", NUMERIC)
claim("matmul", NUMERIC)
claim("__rmatmul__", NUMERIC)
claim("einsum", NUMERIC)
claim("outer", ALL)
claim("inner", NUMERIC)
claim("linalg.multi_dot", NUMERIC)
claim("nn.functional.linear", NUMERIC)
claim("nn.functional.bilinear", FLOATS)

# index
claim("cat", ALL)
claim("stack", ALL)
claim("hstack", ALL)
claim("vstack", ALL)
claim("dstack", ALL)
claim("index_select", ALL)
claim("gather", ALL)
claim("take", ALL)
claim("take_along_dim", ALL)
claim("__getitem__", ALL)
claim("index_put", ALL)
claim("index_add", ALL)
claim("index_copy", ALL)
claim("index_fill", ALL)
claim("put", ALL)
claim("scatter", ALL)
claim("scatter_add", ALL)
claim("scatter_reduce.sum", ALL)
claim("scatter_reduce.prod", ALL)
claim("scatter_reduce.mean", NUMERIC)
claim("scatter_reduce.amax", ALL)
claim("scatter_reduce.amin", ALL)
claim("masked_select", ALL)
claim("masked_scatter", ALL)
claim("nonzero", ALL)
claim("argwhere", ALL)
claim("repeat_interleave", ALL)
claim("nn.functional.embedding", FLOATS)
claim("nn.functional.one_hot", INTS)

# create, shape
claim("arange", NUMERIC)
claim("linspace", NUMERIC)
claim("eye", ALL)
claim("tril", ALL)
claim("triu", ALL)
claim("flip", ALL)
claim("fliplr", ALL)
claim("flipud", ALL)
claim("rot90", ALL)
claim("roll", ALL)
claim("unfold", ALL)
claim("diagonal", ALL)
claim("select", ALL)
claim("narrow", ALL)
claim("repeat", ALL)
claim("tile", ALL)
claim("nn.functional.pad.constant", ALL)
claim("constant_pad_nd", ALL)
