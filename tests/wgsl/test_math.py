"""Elementary and special functions, in units of the last place.

Oracles are numpy's and torch's in float64. The bounds are a little above what
was measured; `python -m tests.wgsl.test_math [name ...]` prints the errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import torch

from tests.wgsl.harness import IMPLEMENTATIONS, Runner, runner
from tests.wgsl.values import (
    SPECIAL_F32,
    Subnormals,
    assert_same_f32,
    pairs,
    random_f32,
)

Array = np.ndarray
Oracle = Callable[..., Array]


def by_torch(function: Callable[[torch.Tensor], torch.Tensor]) -> Oracle:
    return lambda x: function(torch.from_numpy(x)).numpy()


def sigmoid(x: Array) -> Array:
    return np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))


def softplus(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def log_sigmoid(x: Array) -> Array:
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


lgamma = by_torch(torch.lgamma)
digamma = by_torch(torch.digamma)


class Case(NamedTuple):
    oracle: Oracle
    bound: float
    # The size of the terms whose rounding errors are allowed, if they cancel.
    scale: Oracle | None = None


def lgamma_terms(x: Array) -> Array:
    """Nothing cancels above 0; below, the reflection's terms do."""
    return np.where(x < 0, 1 + lgamma(np.maximum(-x, 1)), 0)


def digamma_terms(x: Array) -> Array:
    turn = np.pi * (x - np.floor(x))
    terms = digamma(np.maximum(1 - x, 2)) + np.abs(np.pi / np.tan(turn))
    return np.where(x < 0, terms, 0)


UNARY = {
    "exp": Case(np.exp, 1.2),
    "exp2": Case(np.exp2, 1.2),
    "expm1": Case(np.expm1, 2.0),
    "log": Case(np.log, 1.2),
    "log2": Case(np.log2, 2.0),
    "log10": Case(np.log10, 2.0),
    "log1p": Case(np.log1p, 1.2),
    "sin": Case(np.sin, 2.2),
    "cos": Case(np.cos, 2.2),
    "tan": Case(np.tan, 4.0),
    "asin": Case(np.arcsin, 1.0),
    "acos": Case(np.arccos, 1.2),
    "atan": Case(np.arctan, 2.2),
    "sinh": Case(np.sinh, 2.0),
    "cosh": Case(np.cosh, 2.0),
    "tanh": Case(np.tanh, 1.5),
    "asinh": Case(np.arcsinh, 2.2),
    "acosh": Case(np.arccosh, 2.5),
    "atanh": Case(np.arctanh, 2.2),
    "erf": Case(by_torch(torch.erf), 1.5),
    "erfc": Case(by_torch(torch.erfc), 4.0),
    "erfinv": Case(by_torch(torch.erfinv), 3.0),
    "lgamma": Case(lgamma, 4.0, lgamma_terms),
    "digamma": Case(digamma, 4.0, digamma_terms),
    "sigmoid": Case(sigmoid, 2.5),
    "softplus": Case(softplus, 2.0),
    "log_sigmoid": Case(log_sigmoid, 2.0),
    "sqrt": Case(np.sqrt, 0.5),
    "rsqrt": Case(lambda x: 1 / np.sqrt(x), 1.5),
    "cbrt": Case(np.cbrt, 1.2),
}


def samples(step: int = 4099) -> Array:
    """A grid over all bit patterns, dense parts of the usual ranges."""
    generator = np.random.default_rng(7)
    size = (1 << 32) // step // 6
    uniform = [
        generator.uniform(-limit, limit, size).astype("f4")
        for limit in (1, 4, 12, 100, 1e5)
    ]
    near = (generator.normal(0, 1e-3, size) + 1).astype("f4")
    grid = np.arange(0, 1 << 32, step, dtype="u8").astype("u4").view("f4")
    return np.concatenate([SPECIAL_F32, grid, near, *uniform])


def ulps(got: Array, want: Array, scale: Array | None = None) -> Array:
    """The error of got in last places of want; infinite for a wrong special.

    want is float64. A zero's sign is compared too.
    """
    rounded = want.astype("f4")
    size = np.abs(want) if scale is None else np.maximum(np.abs(want), scale)
    place = np.spacing(np.minimum(size, 3e38).astype("f4")).astype("f8")
    with np.errstate(invalid="ignore"):
        error = np.abs(got.astype("f8") - want) / place
    exact = np.isnan(got) & np.isnan(want)
    exact |= got.view("u4") == rounded.view("u4")
    regular = np.isfinite(got) & np.isfinite(want)
    error[~regular] = np.inf
    # The largest number may be rounded up to infinity.
    limit = (np.abs(want) > 3.4028e38) & np.isfinite(rounded)
    error[limit & np.isinf(got) & (np.sign(got) == np.sign(want))] = 1.0
    error[~regular & exact] = 0.0
    wrong_sign = (np.signbit(got) != np.signbit(want)) & (want == 0)
    error[wrong_sign & ~np.isnan(got)] = np.inf
    return error


def measure(gpu: Runner, name: str, x: Array) -> tuple[float, str]:
    case = UNARY[name]
    with np.errstate(all="ignore"):
        want = case.oracle(x.astype("f8"))
        scale = None if case.scale is None else case.scale(x.astype("f8"))
        got = gpu.evaluate(f"m_{name}(a)", [x], "f32")
        error = np.where(Subnormals.spared(x, want), 0, ulps(got, want, scale))
    worst = int(np.argmax(error))
    text = f"m_{name}({x[worst]!r}) = {got[worst]!r}, not {want[worst]!r}"
    return float(error[worst]), text


@pytest.mark.parametrize("name", UNARY)
def test_unary(gpu: Runner, name: str) -> None:
    error, text = measure(gpu, name, samples())
    assert error <= UNARY[name].bound, f"{error:.2f} ulp: {text}"


def reference_power(a: Array, b: Array) -> Array:
    return np.power(a.astype("f8"), b.astype("f8"))


def power_operands() -> tuple[Array, Array]:
    generator = np.random.default_rng(9)
    size = 1 << 17
    bases = [
        random_f32(size, 1),
        np.exp(generator.uniform(-10, 10, size)),
        1 + generator.uniform(-1e-3, 1e-3, size),
        -np.exp(generator.uniform(-5, 5, size)),
    ]
    exponents = [
        generator.uniform(-3, 3, size),
        generator.uniform(-10, 10, size),
        generator.uniform(-9e4, 9e4, size),
        np.rint(generator.uniform(-20, 20, size)),
    ]
    a, b = pairs(SPECIAL_F32)
    return (
        np.concatenate([a, *bases]).astype("f4"),
        np.concatenate([b, *exponents]).astype("f4"),
    )


def measure_binary(
    gpu: Runner, name: str, oracle: Oracle, a: Array, b: Array
) -> tuple[float, str]:
    with np.errstate(all="ignore"):
        want = oracle(a.astype("f8"), b.astype("f8"))
        got = gpu.evaluate(f"m_{name}(a, b)", [a, b], "f32")
        error = np.where(Subnormals.spared(a, b, want), 0, ulps(got, want))
    worst = int(np.argmax(error))
    text = (
        f"m_{name}({a[worst]!r}, {b[worst]!r}) = {got[worst]!r}, "
        f"not {want[worst]!r}"
    )
    return float(error[worst]), text


def plain_operands() -> tuple[Array, Array]:
    generator = np.random.default_rng(11)
    a, b = pairs(SPECIAL_F32)
    x = random_f32(1 << 18, 1)
    y = random_f32(1 << 18, 2)
    near = (x * generator.uniform(0.01, 100, x.size)).astype("f4")
    return np.concatenate([a, x, x]), np.concatenate([b, y, near])


BINARY: dict[str, tuple[Oracle, float, Callable[[], tuple[Array, Array]]]] = {
    "pow": (reference_power, 1.5, power_operands),
    "atan2": (np.arctan2, 2.0, plain_operands),
    "hypot": (np.hypot, 1.5, plain_operands),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary(gpu: Runner, name: str) -> None:
    oracle, bound, operands = BINARY[name]
    error, text = measure_binary(gpu, name, oracle, *operands())
    assert error <= bound, f"{error:.2f} ulp: {text}"


def test_fmod_is_exact(gpu: Runner) -> None:
    a, b = plain_operands()
    got = gpu.evaluate("m_fmod(a, b)", [a, b], "f32")
    assert_same_f32(got, np.fmod(a, b), a, b)


def test_sqrt_is_correctly_rounded(gpu: Runner) -> None:
    x = np.abs(samples())
    got = gpu.evaluate("m_sqrt(a)", [x], "f32")
    assert_same_f32(got, np.sqrt(x), x)


def test_round_even(gpu: Runner) -> None:
    x = np.concatenate([samples(65537), np.arange(-64, 64, dtype="f4") / 4])
    got = gpu.evaluate("m_round_even(a)", [x], "f32")
    assert_same_f32(got, np.rint(x), x)


PREDICATES: dict[str, Oracle] = {
    "is_nan": np.isnan,
    "is_inf": np.isinf,
    "is_finite": np.isfinite,
    "signbit_f32": np.signbit,
}
SELECTIONS: dict[str, Oracle] = {
    "max_nan": np.maximum,
    "min_nan": np.minimum,
    "max_num": np.fmax,
    "min_num": np.fmin,
    "copysign_f32": np.copysign,
}


def test_float_helpers(gpu: Runner) -> None:
    a, b = pairs(SPECIAL_F32)
    for name, function in PREDICATES.items():
        got = gpu.evaluate(f"{name}(a)", [a], "bool")
        assert got.tolist() == function(a).tolist(), name
    unequal = (a != 0) | (b != 0)  # which zero wins is not defined
    a, b = a[unequal], b[unequal]
    for name, function in SELECTIONS.items():
        got = gpu.evaluate(f"{name}(a, b)", [a, b], "f32")
        assert_same_f32(got, function(a, b), name, a, b)
    zero = np.zeros(1, "f4")
    assert np.isnan(gpu.evaluate("a + nan_f32()", [zero], "f32"))[0]
    assert gpu.evaluate("a + inf_f32()", [zero], "f32")[0] == np.inf
    assert gpu.evaluate("inf_like(-a)", [zero], "f32")[0] == -np.inf


def main() -> None:
    names = sys.argv[1:] or [*UNARY, *BINARY]
    devices = {name: runner(name) for name in IMPLEMENTATIONS}
    x = samples(1021)
    print("function", *devices)
    for name in [n for n in UNARY if n in names]:
        results = [measure(gpu, name, x) for gpu in devices.values()]
        print(name, *(f"{r[0]:.2f}" for r in results), results[0][1])
    for name in [n for n in BINARY if n in names]:
        oracle, _, operands = BINARY[name]
        with np.errstate(all="ignore"):
            results = [
                measure_binary(gpu, name, oracle, *operands())
                for gpu in devices.values()
            ]
        print(name, *(f"{r[0]:.2f}" for r in results), results[0][1])


if __name__ == "__main__":
    main()
