"""The device's generator, also behind operators that run on the CPU."""

from __future__ import annotations

import pytest
import torch


def draw() -> list[float]:
    return torch.rand(4, device="webgpu").tolist()


def test_seed_repeats() -> None:
    torch.manual_seed(5)
    first, second = draw(), draw()
    assert first != second
    torch.manual_seed(5)
    assert [draw(), draw()] == [first, second]
    torch.webgpu.manual_seed(5)
    assert draw() == first
    assert torch.webgpu.initial_seed() == 5
    torch.webgpu.manual_seed_all(6)
    assert draw() != first


def test_state() -> None:
    torch.manual_seed(5)
    draw()
    state = torch.webgpu.get_rng_state()
    following = draw()
    torch.webgpu.set_rng_state(state, "webgpu:0")
    assert draw() == following
    torch.webgpu.set_rng_state_all([state])
    assert torch.equal(torch.webgpu.get_rng_state_all()[0], state)
    with pytest.raises(RuntimeError, match="an RNG state has 16 bytes"):
        torch.webgpu.set_rng_state(torch.zeros(3, dtype=torch.uint8))


def test_system_seed() -> None:
    assert torch.webgpu.seed() == torch.webgpu.initial_seed()


def test_generators_are_independent() -> None:
    one, two = torch.Generator("webgpu"), torch.Generator("webgpu")
    one.manual_seed(1)
    two.manual_seed(1)
    torch.manual_seed(5)
    before = torch.webgpu.get_rng_state()
    a = torch.rand(4, device="webgpu", generator=one)
    b = torch.rand(4, device="webgpu", generator=two)
    assert torch.equal(a.cpu(), b.cpu())
    assert torch.equal(torch.webgpu.get_rng_state(), before)
    copy = torch.Generator("webgpu")
    copy.set_state(one.get_state())
    assert copy.initial_seed() == 1
    assert one.device == torch.device("webgpu", 0)
    assert one.clone_state().device == one.device


def test_cpu_generator_is_left_alone() -> None:
    before = torch.get_rng_state()
    draw()
    torch.nn.functional.dropout(torch.ones(8, device="webgpu"))
    assert torch.equal(torch.get_rng_state(), before)


def test_dropout_follows_the_seed() -> None:
    x = torch.ones(64, device="webgpu")
    torch.webgpu.manual_seed(3)
    first = torch.nn.functional.dropout(x).tolist()
    second = torch.nn.functional.dropout(x).tolist()
    assert first != second
    torch.webgpu.manual_seed(3)
    assert torch.nn.functional.dropout(x).tolist() == first


@pytest.mark.filterwarnings("ignore:webgpu. aten")
def test_operators_on_the_cpu_follow_the_seed() -> None:
    """They continue the device's generator."""

    def permutations() -> list[list[int]]:
        return [torch.randperm(9, device="webgpu").tolist() for _ in range(2)]

    torch.webgpu.manual_seed(3)
    torch.webgpu.reset_fallback_counts()
    first, second = permutations()
    assert torch.webgpu.fallback_counts()
    assert sorted(first) == sorted(second) == list(range(9))
    assert first != second
    torch.webgpu.manual_seed(3)
    assert permutations() == [first, second]


def test_fork_rng() -> None:
    torch.manual_seed(5)
    first = draw()
    torch.manual_seed(5)
    with torch.random.fork_rng():
        draw()
    assert draw() == first


def test_generator_and_tensor_share_a_device() -> None:
    with pytest.raises(RuntimeError, match="'webgpu' device type"):
        torch.rand(2, device="webgpu", generator=torch.Generator())
    with pytest.raises(RuntimeError, match="'cpu' device type"):
        torch.rand(2, generator=torch.Generator("webgpu"))
