"""Calls of random operators: layouts, sizes, counters, gradients, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from tests.ops.against_cpu import transposed
from tests.ops.random import philox
from tests.ops.random.philox import COUNT, SEED, Fill, correlation, drawn

WEBGPU = torch.webgpu  # type: ignore[attr-defined]

pytestmark = pytest.mark.usefixtures("no_fallbacks")


def layouts(dtype: torch.dtype) -> Iterator[tuple[str, torch.Tensor]]:
    """Views of zeros on the device."""

    def zeros(*shape: int) -> torch.Tensor:
        return torch.zeros(shape, dtype=dtype, device="webgpu")

    yield "no dimensions", zeros()
    yield "empty", zeros(0, 3)
    yield "five", zeros(5)
    yield "unaligned", zeros(23)[1:-1].view(3, 7)
    yield "transposed", transposed(zeros(6, 7))
    yield "steps", zeros(9, 14)[::2, 1::3]
    yield "offset", zeros(9, 14)[1:4]
    yield (
        "channels last",
        zeros(2, 3, 4, 5).to(memory_format=torch.channels_last),
    )


FILLS: dict[str, Fill] = {
    "uniform": lambda x: x.uniform_(),
    "normal": lambda x: x.normal_(),
    "bernoulli": lambda x: x.bernoulli_(0.5),
    "random": lambda x: x.random_(1, 100),
    "bernoulli of a tensor": lambda x: x.bernoulli_(
        torch.full_like(x, 0.5, dtype=torch.float32)
    ),
}


DTYPES = [torch.float32, torch.bfloat16, torch.int64, torch.uint8]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for name in FILLS
        for dtype in DTYPES
        if dtype.is_floating_point or name not in ("uniform", "normal")
    ],
)
def test_layouts_do_not_matter(name: str, dtype: torch.dtype) -> None:
    for layout, x in layouts(dtype):
        size = x.untyped_storage().nbytes() // x.element_size()
        whole = x.as_strided((size,), (1,), 0)
        torch.manual_seed(SEED)
        assert FILLS[name](x) is x, layout
        want = drawn(FILLS[name], tuple(x.shape), dtype)
        assert torch.equal(x.cpu(), want), layout
        x.zero_()
        assert not whole.any(), f"{layout}: wrote outside"


def test_large(binding_limit: int) -> None:
    """Above the binding limit, in parts that continue each other."""
    count = binding_limit // 4 + 4099
    torch.manual_seed(SEED)
    x = torch.rand(count, device="webgpu")
    for begin in (
        0,
        binding_limit // 8 - 8,
        binding_limit // 8,
        binding_limit // 4 - 4,
        count - 7,
    ):
        begin = begin // 4 * 4
        words = philox.bits(min(64, count - begin), SEED, begin // 4)
        want = (words // 256 / 2**24).float()
        assert torch.equal(x[begin : begin + 64].cpu(), want), begin
    assert abs(x.mean().item() - 0.5) < 1e-3
    del x
    torch.manual_seed(SEED)
    y = torch.empty(binding_limit + 4099, dtype=torch.uint8, device="webgpu")
    y[3:].bernoulli_(0.5)
    want = philox.bits(64, SEED, (binding_limit + 4096 - 64) // 4) < 2**31
    assert torch.equal(y[-64:].cpu(), want.byte())
    del y
    WEBGPU.empty_cache()


@pytest.mark.parametrize("name", FILLS)
def test_calls_continue_each_other(name: str) -> None:
    """No two calls share a counter, and none is skipped."""
    whole = drawn(FILLS[name], 24)
    torch.manual_seed(SEED)
    parts = []
    used = 0
    for count in (4, 8, 12):
        x = torch.empty(count, device="webgpu")
        parts.append(FILLS[name](x).cpu())
        used += count // 4
        assert philox.offset_of(WEBGPU.get_rng_state()) == used
    assert torch.equal(torch.cat(parts), whole)
    FILLS[name](torch.empty(5, device="webgpu"))
    assert philox.offset_of(WEBGPU.get_rng_state()) == used + 2


def test_counters_above_32_bits() -> None:
    offset = 2**32 - 1
    WEBGPU.set_rng_state(philox.state(SEED, offset))
    got = torch.rand(12, device="webgpu").cpu()
    want = philox.bits(12, SEED, offset) // 256 / 2**24
    assert torch.equal(got, want.float())


def test_complex() -> None:
    x = torch.randn(COUNT, dtype=torch.complex64, device="webgpu").cpu()
    assert abs(x.abs().square().mean().item() - 1) < 0.01
    parts = torch.view_as_real(x)
    assert abs(correlation(parts[:, 0], parts[:, 1])) < 0.01
    y = torch.rand(COUNT, dtype=torch.complex64, device="webgpu").cpu()
    assert abs(y.imag.mean().item() - 0.5) < 0.01


def test_normal_of_tensors() -> None:
    mean = torch.arange(4.0, device="webgpu").view(4, 1)
    std = torch.tensor([0.0, 2.0, 0.5], device="webgpu")
    wide = torch.normal(mean.expand(4, COUNT // 4), 3.0).cpu()
    torch.testing.assert_close(
        wide.mean(1), torch.arange(4.0), rtol=0, atol=0.06
    )
    torch.testing.assert_close(
        wide.std(1), torch.full((4,), 3.0), rtol=0, atol=0.06
    )
    many = std.expand(COUNT // 4, 3)
    torch.testing.assert_close(
        torch.normal(-1.0, many).std(0).cpu(), std.cpu(), rtol=0.02, atol=0
    )
    both = torch.normal(mean, std)
    assert both.shape == (4, 3)
    assert torch.equal(both[:, 0], mean[:, 0])
    out = torch.empty(0, device="webgpu")
    torch.manual_seed(1)
    first = torch.normal(mean, std)
    torch.manual_seed(1)
    torch.normal(mean, std, out=out)
    assert torch.equal(out, first)
    with pytest.raises(RuntimeError, match="std >= 0"):
        torch.normal(mean, -std)


GRADIENTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "normal of means": lambda x: torch.normal(x, 1.0),
    "normal of deviations": lambda x: torch.normal(0.0, x),
    "normal of both": lambda x: torch.normal(x, x),
    "normal_": lambda x: (x * 2).normal_() + x,
    "uniform_": lambda x: (x * 2).uniform_() + x,
    "exponential_": lambda x: (x * 2).exponential_() + x,
    "cauchy_": lambda x: (x * 2).cauchy_() + x,
    "geometric_": lambda x: (x * 2).geometric_(0.5) + x,
    "log_normal_": lambda x: (x * 2).log_normal_() + x,
    "random_": lambda x: (x * 2).random_() + x,
    "bernoulli": lambda x: torch.bernoulli(x) + x,
    "bernoulli_": lambda x: (x * 2).bernoulli_(0.5) + x,
    "rand_like": lambda x: torch.rand_like(x) * 0 + x,
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    grads = []
    for device in ("cpu", "webgpu"):
        x = torch.full((3, 4), 0.5, device=device, requires_grad=True)
        GRADIENTS[name](x).sum().backward()
        assert x.grad is not None
        grads.append(x.grad.cpu())
    assert torch.equal(*grads)


def test_generator_argument() -> None:
    generator = torch.Generator("webgpu").manual_seed(SEED)
    before = WEBGPU.get_rng_state()
    x = torch.randn(64, device="webgpu", generator=generator).cpu()
    assert torch.equal(x, drawn(lambda x: x.normal_(), 64))
    WEBGPU.set_rng_state(before)
    torch.empty(9, device="webgpu").bernoulli_(0.5, generator=generator)
    assert torch.equal(WEBGPU.get_rng_state(), before)
    assert philox.offset_of(generator.get_state()) == 16 + 3


# (dtype, call) that torch refuses
WRONG: list[tuple[torch.dtype, Fill]] = [
    (torch.float32, lambda x: x.uniform_(2, 1)),
    (torch.float16, lambda x: x.uniform_(0, 1e6)),
    (torch.int32, lambda x: x.uniform_()),
    (torch.float32, lambda x: x.normal_(0, -1)),
    (torch.int64, lambda x: x.normal_()),
    (torch.float32, lambda x: x.log_normal_(0, 0)),
    (torch.float32, lambda x: x.exponential_(0)),
    (torch.float32, lambda x: x.exponential_(-0.5)),
    (torch.float32, lambda x: x.cauchy_(0, 0)),
    (torch.int32, lambda x: x.cauchy_()),
    (torch.float32, lambda x: x.geometric_(0)),
    (torch.float32, lambda x: x.geometric_(1)),
    (torch.bool, lambda x: x.geometric_(0.5)),
    (torch.complex64, lambda x: x.geometric_(0.5)),
    (torch.complex64, lambda x: x.exponential_()),
    (torch.complex64, lambda x: x.log_normal_()),
    (torch.complex64, lambda x: x.cauchy_()),
    (torch.complex64, lambda x: x.random_()),
    (torch.float32, lambda x: x.bernoulli_(1.5)),
    (torch.float32, lambda x: x.bernoulli_(-0.1)),
    (torch.int64, lambda x: x.random_(5, 5)),
    (torch.int8, lambda x: x.random_(0, 129)),
    (torch.uint8, lambda x: x.random_(-1, 4)),
    (torch.bool, lambda x: x.random_(0, 3)),
    (torch.int8, lambda x: x.random_(-(2**63), None)),
    (torch.float16, lambda x: x.random_(0, 10**6)),
    (torch.float32, lambda x: x[:1].expand(3).uniform_()),
    (torch.float32, lambda x: x[:1].expand(3).normal_()),
    (torch.float32, lambda x: x[:1].expand(3).bernoulli_(0.5)),
]


@pytest.mark.parametrize("index", range(len(WRONG)))
def test_refused_as_on_the_cpu(index: int) -> None:
    dtype, call = WRONG[index]
    with pytest.raises(Exception) as want:
        call(torch.zeros(3, dtype=dtype))
    before = WEBGPU.get_rng_state()
    with pytest.raises(want.type):
        call(torch.zeros(3, dtype=dtype, device="webgpu"))
    WEBGPU.reset_fallback_counts()  # where only the CPU knows the sentence
    WEBGPU.set_rng_state(before)
