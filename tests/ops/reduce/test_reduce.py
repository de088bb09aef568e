"""Reductions: every shape of work (a thread, a workgroup, several of them per
result), dtypes, layouts, empty inputs, NaN, exact integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings, strategies

from tests.ops.against_cpu import DEVICE, LAYOUTS, check, layouts, make, tricky

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
ALL = [*FLOATS, *INTS, torch.bool]

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": torch.sum,
    "mean": torch.mean,
    "nansum": torch.nansum,
    "amax": torch.amax,
    "amin": torch.amin,
    "any": torch.any,
    "all": torch.all,
    "count_nonzero": torch.count_nonzero,
    "var": torch.var,
    "std_mean": torch.std_mean,
    "norm": torch.linalg.vector_norm,
    "logsumexp": torch.logsumexp,
}

# What each is asked to do: (shape, dim), chosen so that results are made by
# one thread, by one workgroup, and by several workgroups, along the dense
# dimension and across it.
WORK = {
    "thread": ((300, 9), 1),
    "group": ((5, 700), 1),
    "across": ((300, 129), 0),
    "across_split": ((2000, 40), 0),
    "split": ((2, 30000), 1),
    "middle": ((6, 90, 7), 1),
    "two": ((4, 5, 6, 70), (0, 2)),
    "outer_and_inner": ((20, 7, 90), (0, 2)),
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_work(name: str, work: str) -> None:
    shape, dim = WORK[work]
    x = make(shape, low=-1, high=2)
    check(REDUCTIONS[name], x, dim=dim)


# The same where four elements are read at once: rows and columns of whole
# quads, a row with a rest, and several dimensions.
QUADS = {
    "rows": ((300, 64), 1),
    "long_rows": ((40, 8192), 1),
    "rest": ((4099,), 0),
    "columns": ((300, 64), 0),
    "long_columns": ((5000, 64), 0),
    "inner_dims": ((6, 5, 8, 12), (1, 3)),
    "outer_dims": ((6, 5, 8, 12), (0, 2)),
    "all": ((512, 520), (0, 1)),
}


@pytest.mark.parametrize("work", QUADS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_quads(name: str, work: str) -> None:
    shape, dim = QUADS[work]
    x = make(shape, low=-1, high=2)
    check(REDUCTIONS[name], x, dim=dim)


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("start", [0, 1, 4])
def test_quads_of_dtypes_and_offsets(start: int, dtype: torch.dtype) -> None:
    flat = make((40 * 64 + 4,), dtype)

    def of(fn: Callable[..., Any], dim: int) -> Callable[..., Any]:
        return lambda f: fn(f[start:][: 40 * 64].view(40, 64), dim)

    for dim in (0, 1):
        check(of(torch.sum, dim), flat)
        check(of(torch.any, dim), flat)
        if dtype != torch.bool:
            check(of(torch.amax, dim), flat)
            check(of(torch.argmax, dim), flat)
            check(of(lambda x, d: torch.min(x, d).values, dim), flat)


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("work", ["thread", "group", "across", "split"])
def test_dtypes(work: str, dtype: torch.dtype) -> None:
    shape, dim = WORK[work]
    x = make(shape, dtype)
    check(torch.amax, x, dim=dim)
    check(torch.amin, x, dim=dim)
    check(torch.any, x, dim=dim)
    check(torch.max, x, dim=dim)
    if dtype != torch.bool:  # which the CPU's argmin does not take
        check(torch.argmin, x, dim=dim)
    if not dtype.is_floating_point:
        check(torch.sum, x, dim=dim)
        check(torch.prod, x, dim=dim)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("work", ["thread", "group", "across", "split"])
def test_half_types_add_in_float32(work: str, dtype: torch.dtype) -> None:
    shape, dim = WORK[work]
    x = make(shape, dtype, low=0, high=1)
    want = x.double().sum(dim).to(dtype)
    got = x.to(DEVICE).sum(dim)
    torch.testing.assert_close(got.cpu(), want)
    check(torch.sum, x, dim=dim, dtype=torch.float32)


def test_keepdim_and_all_dims() -> None:
    x = make((3, 4, 5))
    for fn in (torch.sum, torch.mean, torch.amax, torch.var):
        check(fn, x, dim=(0, 2), keepdim=True)
        check(fn, x, dim=())
        check(fn, x, dim=None) if fn is not torch.amax else None
    check(torch.any, x, dim=())
    check(torch.all, x, dim=(0, 1), keepdim=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.bool])
def test_layouts(dtype: torch.dtype) -> None:
    for name, x in tricky(dtype):
        try:
            check(torch.sum, x)
            check(torch.count_nonzero, x)
            if x.dim():
                check(torch.sum, x, dim=0)
                check(torch.any, x, dim=-1)
            if x.numel() and dtype != torch.bool:
                check(torch.argmax, x)
            if x.numel():
                check(torch.amin, x)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


@settings(max_examples=30, deadline=None)
@given(x=layouts(), data=strategies.data())
def test_any_dims(x: torch.Tensor, data: strategies.DataObject) -> None:
    dims = data.draw(
        strategies.sets(strategies.integers(0, max(0, x.dim() - 1)))
        if x.dim()
        else strategies.just(set())
    )
    check(torch.sum, x, dim=tuple(dims), keepdim=True)


def test_integer_sums_are_exact() -> None:
    x = make((50_000,), torch.int64)
    check(torch.sum, x)
    check(torch.sum, torch.full((20_000,), 2**31 - 1, dtype=torch.int32))
    check(torch.sum, torch.full((20_000,), 255, dtype=torch.uint8))
    check(torch.sum, torch.ones(100_000, dtype=torch.bool))
    check(torch.sum, make((70,), torch.int32), dtype=torch.int8)
    check(torch.prod, torch.full((40,), 3, dtype=torch.int16))


def test_sum_takes_the_dtype_first() -> None:
    x = make((9, 40))
    check(torch.sum, x, dtype=torch.int64)
    check(torch.sum, x, dim=1, dtype=torch.float16)
    check(torch.mean, make((9, 40), torch.int32), dtype=torch.float32)
    check(torch.sum, make((9, 40)), dtype=torch.bool)


def test_large_sum_uses_many_workgroups() -> None:
    x = make((3_000_000,), low=0, high=1)
    got = x.to(DEVICE).sum()
    torch.testing.assert_close(got.cpu(), x.double().sum().float())


@pytest.mark.parametrize("size", [7, 300, 40_000])
def test_nan_propagates(size: int) -> None:
    x = make((size,))
    x[size // 2] = math.nan
    for fn in (torch.max, torch.min, torch.amax, torch.amin, torch.aminmax):
        check(fn, x)
    for fn in (torch.argmax, torch.argmin, torch.sum, torch.nansum):
        check(fn, x)
    x[size - 1] = math.nan
    check(torch.argmax, x)
    check(torch.max, x, dim=0)


@pytest.mark.parametrize("size", [9, 300, 40_000])
def test_first_of_equal_values(size: int) -> None:
    x = torch.zeros(size)
    check(torch.argmax, x)
    check(torch.argmin, x)
    x[size // 3 :] = 1
    check(torch.argmax, x)
    check(torch.max, x, dim=0)
    check(torch.argmax, torch.full((size,), -math.inf))
    check(torch.argmin, torch.full((size,), 127, dtype=torch.int8))


def test_argmax_counts_in_the_order_of_indices() -> None:
    x = make((30, 40)).t()
    check(torch.argmax, x)
    check(torch.argmin, x, dim=0, keepdim=True)
    check(torch.argmax, LAYOUTS["sliced"](make((7, 9, 11))))


def test_empty() -> None:
    x = torch.empty(3, 0, 2)
    for fn in (torch.sum, torch.mean, torch.prod, torch.var, torch.logsumexp):
        check(fn, x, dim=1)
    check(torch.sum, x)
    check(torch.prod, x)
    check(torch.any, x)
    check(torch.all, x)
    check(torch.amax, x, dim=0)
    check(torch.linalg.vector_norm, x)
    on_device = x.to(DEVICE)
    for call in (
        lambda t: torch.amax(t, dim=1),
        lambda t: torch.amax(t, dim=()),
        torch.argmax,
        torch.max,
        lambda t: torch.max(t, dim=1),
        lambda t: torch.aminmax(t),
        lambda t: torch.linalg.vector_norm(t, math.inf),
    ):
        with pytest.raises(Exception) as on_cpu:
            call(x)
        with pytest.raises(on_cpu.type):
            call(on_device)


def test_variance() -> None:
    x = make((40, 200)) + 1000
    check(torch.var, x, dim=1)
    check(torch.var, x, dim=1, correction=0)
    check(torch.std, x, dim=0, correction=3)
    check(torch.var_mean, x)
    check(torch.std_mean, x, dim=0, keepdim=True)
    with pytest.warns(UserWarning, match="degrees of freedom"):
        check(torch.var, make((5,)), dim=0, correction=5)


def test_norms() -> None:
    x = make((9, 300))
    x[3] = 0
    for order in (0, 1, 2, 3, 0.5, -1, -2.5, math.inf, -math.inf):
        check(torch.linalg.vector_norm, x, order, dim=1)
    check(torch.linalg.vector_norm, x.half(), 2, dtype=torch.float32)
    check(torch.norm, x, 3)
    check(torch.linalg.matrix_norm, x)


def test_logsumexp_of_infinities() -> None:
    inf = math.inf
    x = torch.tensor([[-inf, -inf], [inf, 1], [-inf, 2], [inf, -inf]])
    check(torch.logsumexp, x, dim=1)
    check(torch.logsumexp, x, dim=0)
    check(torch.logsumexp, make((3, 5), torch.int32), dim=1)


def test_equal() -> None:
    x = make((70, 80))
    check(torch.equal, x, x.clone())
    y = x.clone()
    y[69, 79] += 1
    check(torch.equal, x, y)
    check(torch.equal, x, x[:1])
    check(torch.equal, torch.tensor([math.nan]), torch.tensor([math.nan]))
    check(torch.equal, make((9,), torch.int64), make((9,), torch.int64))


def test_out_argument() -> None:
    x = make((6, 50))
    for dtype in (torch.float32, torch.float16):
        base = torch.zeros(20, dtype=dtype, device=DEVICE)
        given_x = x.to(dtype)
        torch.amax(given_x.to(DEVICE), 1, out=base[3:9])
        want = torch.zeros(20, dtype=dtype)
        torch.amax(given_x, 1, out=want[3:9])
        torch.testing.assert_close(base.cpu(), want)
    on_device = x.to(DEVICE)
    with pytest.raises(RuntimeError, match="dtype"):
        torch.amax(on_device, 1, out=torch.empty(6, device=DEVICE).int())
    with pytest.raises(RuntimeError, match="dtype"):
        torch.argmax(on_device, 1, out=torch.empty(6, device=DEVICE))
    # An output inside the input's storage; the CPU's result is then undefined.
    wanted = x.clone()
    wanted[:, 0] = x.sum(1)
    torch.sum(on_device, 1, out=on_device[:, 0])
    torch.testing.assert_close(on_device.cpu(), wanted)


def test_more_than_eight_dims() -> None:
    shape = (2, 3, 2, 2, 3, 2, 2, 2, 3, 2, 2, 2, 2, 2, 2, 2, 2, 3)
    x = make(shape, torch.int16)
    x = x.permute(tuple(range(17, -1, -1)))
    check(torch.sum, x, dim=tuple(range(0, 18, 2)))
    check(torch.sum, x, dim=(1,))


@pytest.mark.parametrize(
    "name", ["sum", "mean", "amax", "var", "std_mean", "norm", "logsumexp"]
)
def test_gradients(name: str) -> None:
    fn = REDUCTIONS[name]
    check(fn, make((7, 90)), dim=1, grad=True)
    check(fn, make((90, 40)).t(), dim=(0, 1), grad=True)


def test_gradients_of_selections() -> None:
    x = make((7, 90))
    check(torch.max, x, grad=True)
    check(torch.aminmax, x, dim=0, grad=True)
    check(lambda t: torch.max(t, dim=1)[0], x, grad=True)
    check(lambda t: torch.min(t, dim=0, keepdim=True)[0], x, grad=True)


def test_gradients_of_products() -> None:
    x = make((4, 6), low=0.5, high=1.5)
    check(torch.prod, x, grad=True)
    check(torch.prod, x, dim=1, grad=True)
    x[2, 3] = 0
    check(torch.prod, x, grad=True)
    check(torch.prod, x, dim=1, grad=True)
    x[1, 1] = 0
    check(torch.prod, x, grad=True)


def test_float64_runs_on_the_cpu() -> None:
    check(torch.sum, make((3, 4), torch.float64), allow_fallbacks=True)
    check(torch.amax, make((3, 4), torch.float64), dim=1, allow_fallbacks=True)


def test_two_results_in_one_storage() -> None:
    x = torch.randn(5, 7)
    both = torch.zeros(2, 5, device="webgpu")
    torch.aminmax(x.to("webgpu"), dim=1, out=(both[0], both[1]))
    assert torch.equal(both.cpu(), torch.stack([x.amin(1), x.amax(1)]))
    values = torch.zeros(10, dtype=torch.int64, device="webgpu")
    y = torch.randint(0, 9, (5, 7))
    torch.max(y.to("webgpu"), 1, out=(values[:5], values[5:]))
    assert torch.equal(values.cpu(), torch.cat(y.max(1)))
    z = torch.zeros(2, 7, dtype=torch.int64, device="webgpu")
    torch.cummax(y[0].to("webgpu"), 0, out=(z[0], z[1]))
    assert torch.equal(z.cpu(), torch.stack(torch.cummax(y[0], 0)))
