"""Operators without a kernel run on the CPU, and say so."""

from __future__ import annotations

import warnings

import pytest
import torch

from .process import run_python

# Operators that never get a GPU kernel, because they are ours.
LIBRARY = torch.library.Library("webgpu_tests", "DEF")
LIBRARY.define("halve(Tensor x) -> Tensor")
LIBRARY.define("halve_all_(Tensor(a!)[] xs) -> ()")
LIBRARY.define("noise(Tensor x, Generator? generator=None) -> Tensor")
LIBRARY.impl("halve", lambda x: x / 2, "CPU")
LIBRARY.impl("halve_all_", lambda xs: [x.div_(2) for x in xs] and None, "CPU")
LIBRARY.impl(
    "noise",
    lambda x, generator=None: torch.rand(x.shape, generator=generator),
    "CPU",
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
