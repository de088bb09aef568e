"""Operators without a kernel run on the CPU, and say so."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch

from .process import run_python

# Operators that never get a GPU kernel, because they are ours.
LIBRARY = torch.library.Library("webgpu_tests", "DEF")
LIBRARY.define("halve(Tensor x) -> Tensor")
LIBRARY.define("halve_all_(Tensor(a!)[] xs) -> ()")
LIBRARY.define("noise(Tensor x, Generator? generator=None) -> Tensor")
LIBRARY.define("fill_out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
LIBRARY.define("halve_two_(Tensor(a!) x, Tensor(b!)? y=None) -> ()")
LIBRARY.define("halve_given(Tensor x, Tensor?[] xs) -> Tensor[]")
LIBRARY.impl("halve", lambda x: x / 2, "CPU")
LIBRARY.impl("halve_all_", lambda xs: [x.div_(2) for x in xs] and None, "CPU")
LIBRARY.impl(
    "noise",
    lambda x, generator=None: torch.rand(x.shape, generator=generator),
    "CPU",
)


def fill_out(x: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
    out.resize_(x.shape)
    # What kernels of torch do that take a dense output for granted.
    assert out.is_contiguous()
    return out.copy_(x)


def halve_two_(x: torch.Tensor, y: torch.Tensor | None = None) -> None:
    for tensor in (x, y):
        if tensor is not None:
            tensor.div_(2)


LIBRARY.impl("fill_out", fill_out, "CPU")
LIBRARY.impl("halve_two_", halve_two_, "CPU")
LIBRARY.impl(
    "halve_given", lambda x, xs: [y / 2 for y in xs if y is not None], "CPU"
)
OPERATORS = torch.ops.webgpu_tests


@pytest.fixture(autouse=True)
def fresh_counts() -> None:
    torch.webgpu.reset_fallback_counts()
    warnings.simplefilter("ignore")


def test_result_and_count() -> None:
    x = torch.rand(5)
    y = OPERATORS.halve(x.webgpu())
    OPERATORS.halve(x.webgpu())
    assert y.is_webgpu
    assert torch.equal(y.cpu(), x / 2)
    assert torch.webgpu.fallback_counts() == {"webgpu_tests::halve": 2}
    torch.webgpu.reset_fallback_counts()
    assert torch.webgpu.fallback_counts() == {}


def test_lists_are_written_back() -> None:
    lists = [torch.full((2,), n, device="webgpu") for n in (2.0, 4.0)]
    OPERATORS.halve_all_(lists)
    assert [x.tolist() for x in lists] == [[1, 1], [2, 2]]


def test_random_operators_continue_the_generator() -> None:
    x = torch.empty(4, device="webgpu")
    torch.webgpu.manual_seed(1)
    first, second = OPERATORS.noise(x).tolist(), OPERATORS.noise(x).tolist()
    assert first != second
    generator = torch.Generator("webgpu").manual_seed(1)
    assert OPERATORS.noise(x, generator).tolist() == first
    assert OPERATORS.noise(x, generator).tolist() == second


def test_float64_runs_there_and_is_counted() -> None:
    x = torch.rand(5, dtype=torch.float64)
    assert torch.equal((x.webgpu() * 3).cpu(), x * 3)
    assert torch.webgpu.fallback_counts()["aten::mul.out"] == 1


# float64 arithmetic is the CPU's by design.
PROGRAM = """
import warnings
import torch, torch_webgpu
x = torch.ones(3, dtype=torch.float64, device="webgpu")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        for _ in range(3):
            x.exp()
    except NotImplementedError as error:
        print(error)
print(sum("aten::exp.out" in str(w.message) for w in caught))
print(torch.webgpu.fallback_counts())
"""


@pytest.mark.parametrize(("policy", "warned"), [("warn", 1), ("silent", 0)])
def test_warns_once_per_operator_or_never(policy: str, warned: int) -> None:
    output = run_python(PROGRAM, TORCH_WEBGPU_FALLBACK=policy).splitlines()
    assert output == [str(warned), "{'aten::exp.out': 3}"]


def test_error_names_operator_and_remedy() -> None:
    output = run_python(PROGRAM, TORCH_WEBGPU_FALLBACK="error").splitlines()
    assert "aten::exp.out" in output[0] and "set it to warn" in output[0]
    assert output[1:] == ["0", "{}"]


@pytest.mark.parametrize(
    "view",
    [lambda x: x.t(), lambda x: x[:, ::2], lambda x: x[1:, 1:]],
    ids=["transposed", "stepped", "inner"],
)
def test_strided_outputs(view: Callable[[torch.Tensor], torch.Tensor]) -> None:
    expected = torch.zeros(6, 6)
    view(expected).copy_(torch.rand(view(expected).shape))
    whole = torch.zeros(6, 6, device="webgpu")
    out = view(whole)
    result = OPERATORS.fill_out(view(expected).webgpu(), out=out)
    assert result is out
    assert torch.equal(whole.cpu(), expected)


def test_outputs_are_resized() -> None:
    x = torch.rand(3, 4)
    out = torch.zeros(6, device="webgpu")[::2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert OPERATORS.fill_out(x.webgpu(), out=out) is out
    assert torch.equal(out.cpu(), x)


def test_expanded_outputs_are_refused() -> None:
    out = torch.zeros(1, device="webgpu").expand(3)
    with pytest.raises(RuntimeError, match="refers to a single memory"):
        OPERATORS.fill_out(torch.ones(3, device="webgpu"), out=out)


def test_lu_unpack_into_other_strides() -> None:
    packed, pivots = torch.linalg.lu_factor(torch.rand(5, 5))
    expected = torch.lu_unpack(packed, pivots)
    outputs = [torch.empty(5, 5, device="webgpu").t() for _ in range(3)]
    results = torch.lu_unpack(packed.webgpu(), pivots.webgpu(), out=outputs)
    for result, output, right in zip(results, outputs, expected, strict=True):
        assert result is output and result.stride() == (1, 5)
        assert torch.equal(output.cpu(), right)


def test_views_are_written_in_place() -> None:
    x = torch.arange(8.0, device="webgpu")
    y = torch.ones(2, 2, device="webgpu")
    OPERATORS.halve_two_(x[1::2], y.t())
    assert x.tolist() == [0, 0.5, 2, 1.5, 4, 2.5, 6, 3.5]
    assert y.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    OPERATORS.halve_two_(x[:2])
    assert x[:2].tolist() == [0, 0.25]
    lists = [x[::4], y[:, 1]]
    OPERATORS.halve_all_(lists)
    assert x[::4].tolist() == [0, 2] and y.tolist() == [[0.5, 0.25]] * 2


def test_lists_with_gaps() -> None:
    x = torch.ones(2, device="webgpu")
    results = OPERATORS.halve_given(x, [None, x, None])
    assert [(r.is_webgpu, r.tolist()) for r in results] == [(True, [0.5] * 2)]


def test_devices_do_not_mix() -> None:
    x, on_cpu = torch.ones(2, device="webgpu"), torch.ones(2)
    for use in (
        lambda: OPERATORS.fill_out(x, out=on_cpu),
        lambda: OPERATORS.halve_two_(x, on_cpu),
        lambda: OPERATORS.halve_all_([x, on_cpu]),
        lambda: OPERATORS.halve_given(x, [None, on_cpu]),
    ):
        with pytest.raises(RuntimeError, match=r"same device, webgpu:0, but"):
            use()
    assert torch.webgpu.fallback_counts() == {}


def test_numbers_may_be_on_the_cpu() -> None:
    x, number = torch.ones(2, device="webgpu"), torch.tensor(3.0)
    for result in OPERATORS.halve_given(number, [x, number]):
        assert result.is_webgpu
    hypotenuse = torch.hypot(torch.tensor(3.0), 4 * x.double())
    assert hypotenuse.is_webgpu and hypotenuse.tolist() == [5, 5]
    with pytest.raises(RuntimeError, match="same device"):
        OPERATORS.halve_two_(x, number)  # not where it is written


def test_module_and_input_do_not_mix() -> None:
    x = torch.ones(1, 2, 4, 4)
    convolution = torch.nn.Conv2d(2, 2, 3)
    with pytest.raises(RuntimeError, match="same device"):
        convolution(x.webgpu())
    with pytest.raises(RuntimeError, match="same device"):
        convolution.webgpu()(x)
