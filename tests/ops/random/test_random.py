"""Random numbers: each against the bits that its seed gives, and their
distributions against the analytic ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.ops.random import philox
from tests.ops.random.philox import COUNT, SEED, Fill, correlation, drawn

WEBGPU = torch.webgpu  # type: ignore[attr-defined]

pytestmark = pytest.mark.usefixtures("no_fallbacks")

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]


def open_uniform(words: torch.Tensor) -> torch.Tensor:
    # Rounded as in the kernel, since logarithms near 1 show it.
    rounded = words.float() * 2**-32 + 2**-33
    return rounded.clamp(max=1 - 2**-24).double()


def normals(words: torch.Tensor) -> torch.Tensor:
    pairs = words.view(-1, 2)
    radius = (-2 * open_uniform(pairs[:, 0]).log()).sqrt()
    part = (pairs[:, 1] % 2**30 // 64) / 2**24 - 0.5
    quarters = (pairs[:, 1] // 2**31) + 2 * (pairs[:, 1] // 2**30 % 2)
    angle = (part + quarters) * math.pi / 2
    both = torch.stack([angle.cos(), angle.sin()], 1)
    return (radius.unsqueeze(1) * both).view(-1)


def cauchys(words: torch.Tensor) -> torch.Tensor:
    value = 1 / ((words % 2**31 + 0.5) * math.pi / 2**32).tan()
    return torch.where(words >= 2**31, -value, value)


# Name → (fill, numbers of the words, cumulative distribution function)
CONTINUOUS: dict[str, tuple[Fill, Callable[..., Any], Callable[..., Any]]] = {
    "uniform": (
        lambda x: x.uniform_(-2, 6),
        lambda w: (w // 256) / 2**24 * 8 - 2,
        lambda x: (x + 2) / 8,
    ),
    "normal": (
        lambda x: x.normal_(1, 3),
        lambda w: normals(w) * 3 + 1,
        lambda x: torch.special.ndtr((x - 1) / 3),
    ),
    "log_normal": (
        lambda x: x.log_normal_(0.5, 0.25),
        lambda w: (normals(w) * 0.25 + 0.5).exp(),
        lambda x: torch.special.ndtr((x.log() - 0.5) / 0.25),
    ),
    "exponential": (
        lambda x: x.exponential_(0.5),
        lambda w: -2 * open_uniform(w).log(),
        lambda x: 1 - (-0.5 * x).exp(),
    ),
    "cauchy": (
        lambda x: x.cauchy_(1, 2),
        lambda w: cauchys(w) * 2 + 1,
        lambda x: ((x - 1) / 2).atan() / math.pi + 0.5,
    ),
}


def test_philox_of_zero() -> None:
    """The published answer for a counter and a key of zeros."""
    x = drawn(lambda x: x.random_(-(2**63), None), 4, torch.int64, seed=0)
    low = [value & 0xFFFFFFFF for value in x.tolist()]
    assert low == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_numbers_of_a_seed(name: str) -> None:
    """The same on every implementation, up to rounding."""
    fill, numbers, _ = CONTINUOUS[name]
    want = numbers(philox.bits(COUNT, SEED)).float()
    torch.testing.assert_close(drawn(fill), want, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution(name: str) -> None:
    """The bound of Kolmogorov and Smirnov, at one in thousand."""
    fill, _, cdf = CONTINUOUS[name]
    x = cdf(drawn(fill).double().sort().values)
    steps = torch.arange(COUNT + 1, dtype=torch.float64) / COUNT
    distance = torch.maximum(
        (x - steps[:-1]).abs().max(), (steps[1:] - x).abs().max()
    )
    assert distance * math.sqrt(COUNT) < 1.95


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_dtypes_are_rounded(name: str, dtype: torch.dtype) -> None:
    fill = CONTINUOUS[name][0]
    wide, narrow = drawn(fill).to(dtype), drawn(fill, dtype=dtype)
    if name == "uniform":
        wide = torch.where(wide == 6, narrow.max(), wide)
        assert narrow.max() < 6
    assert torch.equal(narrow, wide)


def test_moments_of_normal() -> None:
    x = torch.randn(1 << 22, device="webgpu").cpu().double()
    n = x.numel()
    for power, mean, variance in [(1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)]:
        error = (x**power).mean().item() - mean
        assert abs(error) < 4 * math.sqrt(variance / n), power
    assert abs((x.abs() > 4).sum().item() - 6.334e-5 * n) < 4 * math.sqrt(265)
    assert x.isfinite().all()


@pytest.mark.parametrize("name", ["uniform", "normal", "exponential"])
def test_no_correlation(name: str) -> None:
    fill = CONTINUOUS[name][0]
    first = drawn(fill).double()
    x = torch.empty(COUNT, device="webgpu")
    second = fill(x).cpu().double()
    bound = 4.5 / math.sqrt(COUNT)
    for lag in [1, 2, 3, 4, 5, 8, 64, 256]:
        assert abs(correlation(first[lag:], first[:-lag])) < bound, lag
        squares = first**2
        assert abs(correlation(squares[lag:], squares[:-lag])) < bound, lag
    assert abs(correlation(first, second)) < bound
    other = drawn(fill, seed=SEED + 1).double()
    assert abs(correlation(first, other)) < bound


@pytest.mark.parametrize("dtype", FLOATS + INTS)
@pytest.mark.parametrize("p", [0.03, 0.5, 0.97])
def test_geometric(dtype: torch.dtype, p: float) -> None:
    x = drawn(lambda x: x.geometric_(p), dtype=dtype).double()
    assert x.min() == 1
    last = min(int(math.log(20 / COUNT) / math.log1p(-p)), 100)
    counts = torch.bincount(x.clamp(max=last + 1).long(), minlength=last + 2)
    share = p * (1 - p) ** torch.arange(last, dtype=torch.float64)
    share = torch.cat([share, 1 - share.sum().view(1)])
    if dtype != torch.bfloat16 or last < 100:
        assert philox.chi_square_fits(counts[1:].double(), share * COUNT)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16])
def test_geometric_does_not_wrap(dtype: torch.dtype) -> None:
    x = drawn(lambda x: x.geometric_(1e-6), dtype=dtype)
    assert x.min() >= 1
    assert x.max() == torch.iinfo(dtype).max


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, torch.bool])
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_bernoulli(dtype: torch.dtype, p: float) -> None:
    x = drawn(lambda x: x.bernoulli_(p), dtype=dtype)
    want = philox.bits(COUNT, SEED) < round(p * 2**32)
    assert torch.equal(x, want.to(dtype))
    assert abs(x.double().mean() - p) < 0.005


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, torch.bool])
@pytest.mark.parametrize("of", FLOATS)
def test_bernoulli_of_a_tensor(dtype: torch.dtype, of: torch.dtype) -> None:
    p = torch.arange(257, device="webgpu").to(of) / 256
    x = drawn(lambda x: x.bernoulli_(p), (1024, 257), dtype)
    uniform = philox.bits(1024 * 257, SEED).view(1024, 257) // 256 / 2**24
    assert torch.equal(x, (uniform < p.cpu().double()).to(dtype))
    assert not x[:, 0].any()
    assert x[:, -1].all()


def test_bernoulli_of_other_arguments() -> None:
    p = torch.full((5, 3), 0.25, device="webgpu")
    torch.manual_seed(1)
    first = torch.bernoulli(p)
    torch.manual_seed(1)
    out = torch.empty(0, dtype=torch.int32, device="webgpu")
    assert torch.equal(torch.bernoulli(p, out=out), first.int())
    torch.manual_seed(1)
    assert torch.equal(p.bernoulli_(p), first)
    assert (torch.bernoulli(p.bool().float(), 1.0) == 1).all()
    assert (p.bernoulli_(torch.tensor(1.0)) == 1).all()


@pytest.mark.parametrize("wrong", [-0.5, 1.5, math.nan, math.inf])
def test_probability_out_of_range(wrong: float) -> None:
    """A kernel finds it, so the next readback raises."""
    p = torch.tensor([0.5, wrong, 0.5], device="webgpu")
    x = torch.bernoulli(p)
    with pytest.raises(RuntimeError, match=r"bernoulli_: the probability"):
        x.cpu()
    WEBGPU.synchronize()


# dtype → (what random_() gives, inclusive; wider than all draws where None)
LARGEST = {
    torch.float32: None,
    torch.float16: 2048,
    torch.bfloat16: 256,
    torch.int64: None,
    torch.int32: None,
    torch.int16: 32767,
    torch.int8: 127,
    torch.uint8: 255,
    torch.bool: 1,
}


@pytest.mark.parametrize("dtype", LARGEST)
def test_random_without_bounds(dtype: torch.dtype) -> None:
    x = drawn(lambda x: x.random_(), dtype=dtype)
    largest = LARGEST[dtype]
    if largest is not None:
        assert x.min() == 0
        assert x.max() == largest
        counts = torch.bincount(x.long(), minlength=largest + 1).double()
        even = torch.full_like(counts, COUNT / (largest + 1))
        if largest < 10000:
            assert philox.chi_square_fits(counts, even)
        return
    digits = {torch.float32: 24, torch.int64: 63, torch.int32: 31}[dtype]
    assert x.min() >= 0
    assert abs(x.double().mean() / 2**digits - 0.5) < 0.003


@pytest.mark.parametrize(
    "bounds",
    [
        (0, 10),
        (-7, 8),
        (0, 2**32),
        (-(2**62), 2**62 + 12345),
        (-(2**63), 2**63 - 1),
        (2**63 - 2, 2**63 - 1),
        (5, None),
        (-(2**63), None),
    ],
)
def test_integers_in_full(bounds: tuple[int, int | None]) -> None:
    start, end = bounds
    x = drawn(lambda x: x.random_(start, end), 4096, torch.int64).tolist()
    span = (2**63 if end is None else end) - start
    low = philox.bits(4096, SEED).long().tolist()
    high = philox.bits(4096, SEED, which=1).long().tolist()
    words = [b << 32 | a for a, b in zip(low, high, strict=True)]
    if span == 2**64:  # the bits as they are
        want = [(word + 2**63) % 2**64 - 2**63 for word in words]
    else:
        want = [start + (word * span >> 64) for word in words]
    assert x == want


def test_every_bit_is_random() -> None:
    x = drawn(lambda x: x.random_(-(2**63), None), dtype=torch.int64)
    bits = torch.stack([x >> place & 1 for place in range(64)]).double()
    assert ((bits.mean(1) - 0.5).abs() < 5 * 0.5 / math.sqrt(COUNT)).all()
    between = torch.corrcoef(bits) - torch.eye(64)
    assert (between.abs() < 5.5 / math.sqrt(COUNT)).all()


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS])
def test_randint(dtype: torch.dtype) -> None:
    torch.manual_seed(SEED)
    x = torch.randint(3, 10, (COUNT,), dtype=dtype, device="webgpu").cpu()
    counts = torch.bincount(x.long(), minlength=10).double()
    assert not counts[:3].any()
    even = torch.full((7,), COUNT / 7, dtype=torch.float64)
    assert philox.chi_square_fits(counts[3:], even)
    assert torch.randint_like(x.to("webgpu"), 100).max() < 100


@pytest.mark.filterwarnings("ignore:to - 1 is out of bounds")
def test_float_bounds_of_random() -> None:
    """A bound that the dtype cannot hold moves inwards."""
    x = drawn(lambda x: x.random_(0, 65504), dtype=torch.float16)
    assert x.max() < 65504
    assert x.isfinite().all()


RANGES = [
    (1.0, 2.0),
    (0.0, 1.0),
    (-1.0, 0.0),
    (0.1, 0.3),
    (-1e-3, 1e-3),
    (1000.0, 1001.0),
    (-65504.0, 0.0),
    (3.0, 3.0),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("bounds", RANGES)
def test_uniform_is_half_open(
    dtype: torch.dtype, bounds: tuple[float, float]
) -> None:
    start, end = bounds
    x = drawn(lambda x: x.uniform_(start, end), 1 << 22, dtype).double()
    assert x.min() >= start
    assert x.max() < end or start == end == x.max()


def test_uniform_where_no_number_lies_between() -> None:
    x = drawn(lambda x: x.uniform_(1, 1.001), dtype=torch.bfloat16)
    assert (x == 1).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rate", [1.0, 1e-6, 1e6, 1e38, 1e-38])
def test_exponential_is_positive_and_finite(
    dtype: torch.dtype, rate: float
) -> None:
    x = drawn(lambda x: x.exponential_(rate), 1 << 22, dtype)
    assert (x > 0).all()
    assert x.isfinite().all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_ends_of_parameters(dtype: torch.dtype) -> None:
    assert (drawn(lambda x: x.exponential_(math.inf), dtype=dtype) == 0).all()
    assert (drawn(lambda x: x.normal_(2.5, 0), dtype=dtype) == 2.5).all()
    x = drawn(lambda x: x.cauchy_(math.inf, 0.5), dtype=dtype)
    assert (x == math.inf).all()
    if dtype != torch.float16:
        assert drawn(lambda x: x.cauchy_(), 1 << 22, dtype).isfinite().all()
