"""The t_ files against torch on the CPU, for each dtype of a compute type."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from tests.wgsl.harness import Runner
from tests.wgsl.values import (
    EDGES_I64,
    SPECIAL_F32,
    assert_same,
    assert_same_f32,
    pairs,
    random_f32,
    random_i64,
)

# dtype: compute type, and what a store does to a result.
DTYPES = {
    torch.float32: ("f32", "{}"),
    torch.int32: ("i32", "{}"),
    torch.int16: ("i32", "wrap_i16({})"),
    torch.int8: ("i32", "wrap_i8({})"),
    torch.uint8: ("u32", "wrap_u8({})"),
    torch.int64: ("i64", "{}"),
}
INTEGERS = [d for d in DTYPES if d != torch.float32]

Binary = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
ARITHMETIC: dict[str, Binary] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "min": torch.minimum,
    "max": torch.maximum,
}
DIVISION: dict[str, Binary] = {
    "div_trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "div_floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "rem_trunc": torch.fmod,
    "rem_floor": torch.remainder,
}
BITS: dict[str, Binary] = {
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "shl": torch.bitwise_left_shift,
    "shr": torch.bitwise_right_shift,
    "pow": torch.pow,
}
COMPARE: dict[str, Binary] = {
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
    "eq": torch.eq,
    "ne": torch.ne,
}
UNARY: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "neg": torch.neg,
    "abs": torch.abs,
    "sign": torch.sign,
    "square": torch.square,
}


def name_of(value: object) -> str:
    return str(value).removeprefix("torch.") if value in DTYPES else ""


def operands(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    if dtype == torch.float32:
        a, b = pairs(SPECIAL_F32)
        a = np.concatenate([a, random_f32(4096, 1)])
        b = np.concatenate([b, random_f32(4096, 2)])
    else:
        a, b = pairs(EDGES_I64)
        a = np.concatenate([a, random_i64(4096, 1)])
        b = np.concatenate([b, random_i64(4096, 2)])
    return torch.from_numpy(a).to(dtype), torch.from_numpy(b).to(dtype)


def check(
    gpu: Runner,
    dtype: torch.dtype,
    expression: str,
    inputs: list[torch.Tensor],
    want: torch.Tensor,
) -> None:
    compute_type, store = DTYPES[dtype]
    numpy_type = {"f32": "f4", "i32": "i4", "u32": "u4", "i64": "i8"}
    arrays = [x.numpy().astype(numpy_type[compute_type]) for x in inputs]
    is_bool = want.dtype == torch.bool
    got = gpu.evaluate(
        expression if is_bool else store.format(expression),
        arrays,
        "bool" if is_bool else compute_type,
        compute_type=compute_type,
    )
    same = assert_same_f32 if want.dtype == torch.float32 else assert_same
    same(got, want.numpy(), *arrays)


@pytest.mark.parametrize("dtype", DTYPES, ids=name_of)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(gpu: Runner, name: str, dtype: torch.dtype) -> None:
    a, b = operands(dtype)
    if name in ("min", "max") and dtype == torch.float32:
        # Which zero wins is not defined.
        keep = (a != 0) | (b != 0)
        a, b = a[keep], b[keep]
    check(gpu, dtype, f"t_{name}(a, b)", [a, b], ARITHMETIC[name](a, b))


@pytest.mark.parametrize("dtype", INTEGERS, ids=name_of)
@pytest.mark.parametrize("name", DIVISION)
def test_integer_division(gpu: Runner, name: str, dtype: torch.dtype) -> None:
    a, b = operands(dtype)
    # What the CPU cannot do: a zero divisor, the lowest value by -1.
    keep = b != 0
    if dtype.is_signed:
        keep &= (a != torch.iinfo(dtype).min) | (b != -1)
    a, b = a[keep], b[keep]
    check(gpu, dtype, f"t_{name}(a, b)", [a, b], DIVISION[name](a, b))


@pytest.mark.parametrize("dtype", INTEGERS, ids=name_of)
@pytest.mark.parametrize("name", DIVISION)
def test_integer_division_by_zero_returns(
    gpu: Runner, name: str, dtype: torch.dtype
) -> None:
    a = operands(dtype)[0]
    compute_type = DTYPES[dtype][0]
    array = a.numpy().astype(
        {"i32": "i4", "u32": "u4", "i64": "i8"}[compute_type]
    )
    got = gpu.evaluate(
        f"t_{name}(a, b)",
        [array, np.zeros_like(array)],
        compute_type,
        compute_type=compute_type,
    )
    assert got.shape == array.shape


@pytest.mark.parametrize("dtype", INTEGERS, ids=name_of)
@pytest.mark.parametrize("name", BITS)
def test_bits_and_pow(gpu: Runner, name: str, dtype: torch.dtype) -> None:
    a, b = operands(dtype)
    check(gpu, dtype, f"t_{name}(a, b)", [a, b], BITS[name](a, b))


@pytest.mark.parametrize("dtype", INTEGERS, ids=name_of)
def test_not(gpu: Runner, dtype: torch.dtype) -> None:
    a = operands(dtype)[0]
    check(gpu, dtype, "t_not(a)", [a], torch.bitwise_not(a))


@pytest.mark.parametrize("dtype", DTYPES, ids=name_of)
@pytest.mark.parametrize("name", COMPARE)
def test_compare(gpu: Runner, name: str, dtype: torch.dtype) -> None:
    a, b = operands(dtype)
    check(gpu, dtype, f"t_{name}(a, b)", [a, b], COMPARE[name](a, b))


@pytest.mark.parametrize("dtype", DTYPES, ids=name_of)
@pytest.mark.parametrize("name", UNARY)
def test_unary(gpu: Runner, name: str, dtype: torch.dtype) -> None:
    a = operands(dtype)[0]
    want = UNARY[name](a)
    if name == "sign" and dtype == torch.float32:
        want = want.abs() * want  # no negative zero
    check(gpu, dtype, f"t_{name}(a)", [a], want)


@pytest.mark.parametrize("dtype", DTYPES, ids=name_of)
def test_bool(gpu: Runner, dtype: torch.dtype) -> None:
    a, b = operands(dtype)
    check(gpu, dtype, "t_to_bool(a)", [a], a != 0)
    check(gpu, dtype, "t_is_zero(a)", [a], a == 0)
    check(gpu, dtype, "t_from_bool(t_lt(a, b))", [a, b], (a < b).to(dtype))
    check(
        gpu,
        dtype,
        "t_select(a, b, t_ne(a, t_zero()))",
        [a, b],
        torch.where(a != 0, b, a),
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=name_of)
def test_conversions(gpu: Runner, dtype: torch.dtype) -> None:
    a = operands(dtype)[0]
    check(gpu, dtype, "t_is_nan(a)", [a], a.isnan())
    compute_type, store = DTYPES[dtype]
    dtypes = {"f32": "f4", "i32": "i4", "u32": "u4", "i64": "i8"}
    array = a.numpy().astype(dtypes[compute_type])
    for target, same in (
        (torch.float32, assert_same_f32),
        (torch.int64, assert_same),
    ):
        name, _ = DTYPES[target]
        got = gpu.evaluate(
            f"t_to_{name}(a)", [array], name, compute_type=compute_type
        )
        same(got, a.to(target).numpy(), array)
        b = operands(target)[0]
        got = gpu.evaluate(
            store.format(f"t_from_{name}(a)"),
            [b.numpy()],
            compute_type,
            compute_type=compute_type,
        )
        back = assert_same_f32 if dtype == torch.float32 else assert_same
        back(got, b.to(dtype).numpy(), b.numpy())


LIMITS = {
    torch.float32: (-float("inf"), float("inf")),
    torch.int32: (-(2**31), 2**31 - 1),
    torch.uint8: (0, 255),
    torch.int64: (-(2**63), 2**63 - 1),
}


@pytest.mark.parametrize("dtype", LIMITS, ids=name_of)
def test_constants(gpu: Runner, dtype: torch.dtype) -> None:
    a = torch.zeros(1, dtype=dtype)
    lowest, highest = LIMITS[dtype]
    for expression, value in (
        ("t_zero()", 0),
        ("t_one()", 1),
        ("t_lowest()", lowest),
        ("t_highest()", highest),
        ("t_from_i32(123)", 123),
    ):
        want = torch.full_like(a, value)
        check(gpu, dtype, f"t_add(a, {expression})", [a], want)
    if dtype.is_signed:
        want = torch.full_like(a, -(2**24) - 2)
        check(gpu, dtype, "t_add(a, t_from_i32(-16777218))", [a], want)


def test_float_division(gpu: Runner) -> None:
    a, b = operands(torch.float32)
    check(gpu, torch.float32, "t_div(a, b)", [a, b], a / b)
    check(
        gpu,
        torch.float32,
        "t_div_trunc(a, b)",
        [a, b],
        torch.div(a, b, rounding_mode="trunc"),
    )
    check(
        gpu,
        torch.float32,
        "t_div_floor(a, b)",
        [a, b],
        torch.div(a, b, rounding_mode="floor"),
    )
    fmod = torch.from_numpy(np.fmod(a.numpy(), b.numpy()))
    check(gpu, torch.float32, "t_rem_trunc(a, b)", [a, b], fmod)
    # torch.remainder's vectorised form is NaN for large quotients.
    wrong = (fmod != 0) & ((fmod < 0) != (b < 0))
    want = torch.where(wrong, fmod + b, fmod)
    check(gpu, torch.float32, "t_rem_floor(a, b)", [a, b], want)
