"""Conversions: exhaustive for the 16-bit floats, torch as oracle."""

import numpy as np
import pytest
import torch

from tests.wgsl.harness import Runner
from tests.wgsl.values import (
    EDGES_I64,
    SPECIAL_F32,
    assert_same,
    assert_same_f32,
    random_f32,
    random_i64,
)

ALL_16 = np.arange(65536, dtype="u4")
HALVES = {"f16": torch.float16, "bf16": torch.bfloat16}


def floats() -> np.ndarray:
    generator = np.random.default_rng(5)
    return np.concatenate(
        [
            SPECIAL_F32,
            random_f32(1 << 20, 3),
            generator.uniform(-70000, 70000, 1 << 16).astype("f4"),
            generator.uniform(-1e-4, 1e-4, 1 << 16).astype("f4"),
        ]
    )


@pytest.mark.parametrize("name", HALVES)
def test_16_bits_to_f32(gpu: Runner, name: str) -> None:
    half = torch.from_numpy(ALL_16.astype("u2").view("i2")).view(HALVES[name])
    got = gpu.evaluate(f"{name}_bits_to_f32(a)", [ALL_16], "f32")
    assert_same_f32(got, half.float().numpy(), ALL_16)


@pytest.mark.parametrize("name", HALVES)
def test_f32_to_16_bits(gpu: Runner, name: str) -> None:
    half = torch.from_numpy(ALL_16.astype("u2").view("i2")).view(HALVES[name])
    exact = half.float().numpy()
    # Each value, and the ties with their neighbours above and below.
    ties = ((exact[:-1].astype("f8") + exact[1:]) / 2).astype("f4")
    x = np.concatenate(
        [
            floats(),
            exact,
            ties,
            np.nextafter(ties, np.float32(np.inf)),
            np.nextafter(ties, np.float32(-np.inf)),
        ]
    )
    got = gpu.evaluate(f"f32_to_{name}_bits(a)", [x], "u32")
    assert got.max() < 65536
    back = torch.from_numpy(got.astype("u2").view("i2")).view(HALVES[name])
    want = torch.from_numpy(x).to(HALVES[name])
    assert_same_f32(back.float().numpy(), want.float().numpy(), x)


@pytest.mark.parametrize(
    "target, dtype", [("i32", torch.int32), ("i64", torch.int64)]
)
def test_f32_to_integer(gpu: Runner, target: str, dtype: torch.dtype) -> None:
    x = floats()
    got = gpu.evaluate(f"f32_to_{target}(a)", [x], target)
    assert_same(got, torch.from_numpy(x).to(dtype).numpy(), x)


@pytest.mark.parametrize("mask", ("f32_to_u8(a)", "wrap_u8(f32_to_u32(a))"))
def test_f32_to_u8(gpu: Runner, mask: str) -> None:
    x = floats()
    got = gpu.evaluate(mask, [x], "u32")
    assert_same(got, torch.from_numpy(x).to(torch.uint8).numpy(), x)


@pytest.mark.parametrize(
    "name, dtype", [("i8", torch.int8), ("i16", torch.int16)]
)
def test_f32_to_narrow(gpu: Runner, name: str, dtype: torch.dtype) -> None:
    x = floats()
    got = gpu.evaluate(f"wrap_{name}(f32_to_i32(a))", [x], "i32")
    assert_same(got, torch.from_numpy(x).to(dtype).numpy(), x)


def test_f32_to_bool(gpu: Runner) -> None:
    x = floats()
    got = gpu.evaluate("f32_to_bool(a)", [x], "bool")
    assert_same(got, torch.from_numpy(x).to(torch.bool).numpy(), x)


@pytest.mark.parametrize("source, dtype", [("i32", "i4"), ("i64", "i8")])
def test_integer_to_f32(gpu: Runner, source: str, dtype: str) -> None:
    ties = (np.arange(-2048, 2048) * 2 + 1) << 23
    x = np.concatenate([EDGES_I64, random_i64(1 << 20, 4), ties, ties >> 14])
    x = x.astype(dtype)
    got = gpu.evaluate(f"{source}_to_f32(a)", [x], "f32")
    assert_same_f32(got, x.astype("f4"), x)


def test_u32_to_f32(gpu: Runner) -> None:
    x = np.concatenate([EDGES_I64, random_i64(1 << 20, 4)]).astype("u4")
    got = gpu.evaluate("u32_to_f32(a)", [x], "f32")
    assert_same_f32(got, x.astype("f4"), x)


@pytest.mark.parametrize(
    "source, target",
    [
        (source, target)
        for source in ("i32", "u32", "i64")
        for target in ("i32", "u32", "i64", "bool")
        if source != target
    ],
)
def test_integer_to_integer(gpu: Runner, source: str, target: str) -> None:
    dtypes = {"i32": "i4", "u32": "u4", "i64": "i8", "bool": "?"}
    x = np.concatenate([EDGES_I64, random_i64(4096, 4)]).astype(dtypes[source])
    got = gpu.evaluate(f"{source}_to_{target}(a)", [x], target)
    assert_same(got, x.astype(dtypes[target]), x)


@pytest.mark.parametrize("target", ("f32", "i32", "u32", "i64"))
def test_bool_to_number(gpu: Runner, target: str) -> None:
    x = np.array([0, 1, 2, 0], "u4")
    got = gpu.evaluate(f"bool_to_{target}(a != 0u)", [x], target)
    assert got.tolist() == [0, 1, 1, 0]
