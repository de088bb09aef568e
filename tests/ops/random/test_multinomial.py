"""Samples of categories: frequencies, rows, and what torch refuses."""

from __future__ import annotations

import pytest
import torch

from tests.ops.random import philox

WEBGPU = torch.webgpu  # type: ignore[attr-defined]

pytestmark = pytest.mark.usefixtures("no_fallbacks")

COUNT = 1 << 16


def assert_follows(samples: torch.Tensor, weights: torch.Tensor) -> None:
    counts = torch.bincount(samples.flatten(), minlength=weights.numel())
    present = weights > 0
    assert not counts[~present].any()
    if present.sum() > 1:
        share = (weights / weights.sum())[present].double()
        assert philox.chi_square_fits(
            counts[present].double(), share * samples.numel()
        )


WEIGHTS = torch.tensor(
    [
        [0.0, 1, 2, 3, 0],
        [1.0, 0, 0, 0, 1],
        [0.0, 0, 7, 0, 0],
        [1e-3, 1, 1, 1, 1],
    ]
)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16]
)
def test_with_replacement(dtype: torch.dtype) -> None:
    weights = WEIGHTS.to(dtype)
    samples = torch.multinomial(weights.to("webgpu"), COUNT, True).cpu()
    assert samples.shape == (4, COUNT)
    for row, row_weights in zip(samples, weights.float(), strict=True):
        assert_follows(row, row_weights)
    strided = weights.t().contiguous().t()[0].to("webgpu")
    assert_follows(torch.multinomial(strided, COUNT, True).cpu(), weights[0])


def test_many_categories() -> None:
    weights = torch.ones(100_000)
    weights[::2] = 0
    samples = torch.multinomial(weights.to("webgpu"), 1 << 20, True).cpu()
    assert (samples % 2 == 1).all()
    assert_follows(samples // 1000, torch.ones(100))


def test_one_sample() -> None:
    rows = WEIGHTS[0].expand(COUNT, 5).to("webgpu")
    samples = torch.multinomial(rows, 1).cpu()
    assert samples.shape == (COUNT, 1)
    assert_follows(samples, WEIGHTS[0])
    assert torch.multinomial(WEIGHTS[2].to("webgpu"), 1).tolist() == [2]


def test_without_replacement() -> None:
    samples = torch.multinomial(WEIGHTS[:1].to("webgpu"), 3).cpu()
    assert sorted(samples[0].tolist()) == [1, 2, 3]
    # Until the device has topk.
    assert list(WEBGPU.fallback_counts()) == ["aten::topk.values"]
    WEBGPU.reset_fallback_counts()


def test_out_and_generator() -> None:
    weights = WEIGHTS.to("webgpu")
    generator = torch.Generator("webgpu").manual_seed(1)
    first = torch.multinomial(weights, 10, True, generator=generator)
    assert philox.offset_of(generator.get_state()) == 10
    generator.manual_seed(1)
    out = torch.zeros(10, 4, dtype=torch.int64, device="webgpu").t()
    torch.multinomial(weights, 10, True, generator=generator, out=out)
    assert torch.equal(out, first)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(
    "weights", [[0.0, 0.0], [-1.0, 2.0], [float("nan"), 1], [float("inf"), 1]]
)
def test_refused_as_on_the_cpu(weights: list[float], samples: int) -> None:
    for device in ("cpu", "webgpu"):
        with pytest.raises(RuntimeError, match=r"probability|distribution"):
            torch.multinomial(
                torch.tensor(weights, device=device), samples, True
            )


@pytest.mark.parametrize(
    "arguments", [((2, 0), 1, True), ((3,), 0, True), ((3,), 4, False)]
)
def test_wrong_sizes(arguments: tuple[tuple[int, ...], int, bool]) -> None:
    shape, samples, replacement = arguments
    for device in ("cpu", "webgpu"):
        with pytest.raises(RuntimeError):
            torch.multinomial(
                torch.ones(shape, device=device), samples, replacement
            )
