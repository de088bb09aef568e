"""64-bit integers against Python's."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.wgsl.harness import Runner
from tests.wgsl.values import EDGES_I64, assert_same, pairs, random_i64


def wrap(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def trunc_div(a: int, b: int) -> int:
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def shifted_left(a: int, n: int) -> int:
    return a << n if 0 <= n < 64 else 0


def shifted_right(a: int, n: int) -> int:
    return a >> (n if 0 <= n < 64 else 63)


def power(a: int, n: int) -> int:
    if n < 0:
        return a ** (n % 2) if abs(a) == 1 else 0
    return pow(a, n, 2**64)


BINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "pow": power,
}
DIVISION: dict[str, Callable[[int, int], int]] = {
    "div_trunc": trunc_div,
    "div_floor": lambda a, b: a // b,
    "rem_trunc": lambda a, b: a - b * trunc_div(a, b),
    "rem_floor": lambda a, b: a % b,
}
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
UNARY: dict[str, Callable[[int], int]] = {
    "neg": lambda a: -a,
    "abs": abs,
    "sign": lambda a: (a > 0) - (a < 0),
    "not": lambda a: ~a,
}


def operands() -> tuple[np.ndarray, np.ndarray]:
    a, b = pairs(EDGES_I64)
    return (
        np.concatenate([a, random_i64(20000, 1)]),
        np.concatenate([b, random_i64(20000, 2)]),
    )


def expected(function: Callable[..., int], *args: np.ndarray) -> np.ndarray:
    columns = [x.tolist() for x in args]
    return np.array(
        [wrap(int(function(*row))) for row in zip(*columns, strict=True)], "i8"
    )


@pytest.mark.parametrize("name", (*BINARY, *DIVISION))
def test_binary(gpu: Runner, name: str) -> None:
    a, b = operands()
    if name in DIVISION:
        a, b = a[b != 0], b[b != 0]
    got = gpu.evaluate(f"i64_{name}(a, b)", [a, b], "i64")
    want = expected((BINARY | DIVISION)[name], a, b)
    assert_same(got, want, a, b)


@pytest.mark.parametrize("name", DIVISION)
def test_division_by_zero_gives_zero(gpu: Runner, name: str) -> None:
    zero = np.zeros_like(EDGES_I64)
    got = gpu.evaluate(f"i64_{name}(a, b)", [EDGES_I64, zero], "i64")
    assert_same(got, zero, EDGES_I64)


@pytest.mark.parametrize("name", COMPARE)
def test_compare(gpu: Runner, name: str) -> None:
    a, b = operands()
    got = gpu.evaluate(f"i64_{name}(a, b)", [a, b], "bool")
    assert_same(got, expected(COMPARE[name], a, b), a, b)


@pytest.mark.parametrize("name", UNARY)
def test_unary(gpu: Runner, name: str) -> None:
    a = operands()[0]
    got = gpu.evaluate(f"i64_{name}(a)", [a], "i64")
    assert_same(got, expected(UNARY[name], a), a)


@pytest.mark.parametrize(
    "name, function", [("shl", shifted_left), ("shr", shifted_right)]
)
def test_shift(
    gpu: Runner, name: str, function: Callable[[int, int], int]
) -> None:
    counts = np.array([*range(70), -1, -64, 2**32, 2**40 + 1, -(2**63)], "i8")
    a, n = (x.ravel() for x in np.meshgrid(EDGES_I64, counts))
    got = gpu.evaluate(f"i64_{name}(a, b)", [a, n], "i64")
    assert_same(got, expected(function, a, n), a, n)


def test_wide_product(gpu: Runner) -> None:
    a, b = (x.astype("u4") for x in operands())
    got = gpu.evaluate("u32_mul_wide(a, b)", [a, b], "i64")
    assert_same(got.view("u8"), a.astype("u8") * b, a, b)
