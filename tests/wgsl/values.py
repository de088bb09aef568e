"""Sample values and comparisons for the library's tests."""

from __future__ import annotations

import numpy as np

SPECIAL_F32 = np.array(
    [
        *(0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -0.5, 2, -2, 3, -3),
        *(1e-45, -1e-45, 2.0**-126, -(2.0**-126), 3.4e38, -3.4e38, 7.5, -7.5),
        *(2.0**23 - 0.5, 2.0**24 - 1, 2.0**24, 2.0**25, 1e10, -1e10),
        *(1 - 2.0**-24, 1 + 2.0**-23, -1 + 2.0**-24, 88.8, -88.8, -104.5),
        *(2.0**31, -(2.0**31), 2.0**31 - 128, 2.0**63, -(2.0**63), 2.0**64),
    ],
    "f4",
)
EDGES_I64 = np.array(
    sorted(
        {
            sign * (2**bit) + delta
            for bit in (0, 1, 7, 8, 15, 16, 17, 24, 31, 32, 33, 47, 48, 62)
            for sign in (1, -1)
            for delta in (-1, 0, 1)
        }
        | {0, 3, -3, 10, 2**63 - 1, -(2**63), -(2**63) + 1}
        | {2**25 + 1, 2**25 + 3, 2**54 + 2**30, 2**54 + 2**30 + 1}
    ),
    "i8",
)


def random_f32(size: int, seed: int) -> np.ndarray:
    """Uniform in the bits: every exponent is as likely."""
    generator = np.random.default_rng(seed)
    return generator.integers(0, 2**32, size, dtype="u4").view("f4")


def random_i64(size: int, seed: int) -> np.ndarray:
    """Uniform in the length, so that short and long values meet."""
    generator = np.random.default_rng(seed)
    values = generator.integers(-(2**63), 2**63, size, dtype="i8")
    return values >> generator.integers(0, 64, size, dtype="i8")


def pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.meshgrid(values, values)
    return a.ravel(), b.ravel()


class Subnormals:
    """Whether the adapter in use computes with subnormal numbers. WGSL allows
    to take them for zeros, which some GPUs do."""

    kept = True

    @classmethod
    def spared(cls, *arrays: object) -> np.ndarray:
        """Where an adapter that keeps none cannot be judged: a number is so
        small that a product's 48 bits, which some functions work with, reach
        below the normal numbers."""
        mask = np.zeros(1, bool)
        if cls.kept:
            return mask
        for x in arrays:
            if isinstance(x, np.ndarray) and x.dtype.kind == "f":
                mask = mask | ((x != 0) & (np.abs(x) < 2.0 ** (48 - 126)))
        return mask


def assert_same_f32(got: np.ndarray, want: np.ndarray, *args: object) -> None:
    """Bit for bit, except that any NaN equals any other."""
    bad = (got.view("u4") != want.view("u4")) & ~(
        np.isnan(got) & np.isnan(want)
    )
    _report(bad, got, want, args)


def assert_same(got: np.ndarray, want: np.ndarray, *args: object) -> None:
    _report(got != want, got, want, args)


def _report(
    bad: np.ndarray,
    got: np.ndarray,
    want: np.ndarray,
    args: tuple[object, ...],
) -> None:
    where = np.nonzero(bad & ~Subnormals.spared(want, *args))[0]
    if where.size:
        i = where[0]
        operands = [x[i] if isinstance(x, np.ndarray) else x for x in args]
        raise AssertionError(
            f"{where.size} of {got.size} differ, the first for {operands}: "
            f"{got[i]!r} instead of {want[i]!r}"
        )
