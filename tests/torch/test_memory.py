"""Memory figures, reuse, and running out of it."""

from __future__ import annotations

import gc

import pytest
import torch

MIB = 2**20


def test_figures_follow_tensors() -> None:
    gc.collect()
    before = torch.webgpu.memory_allocated()
    x = torch.empty(4 * MIB, dtype=torch.uint8, device="webgpu")
    grown = torch.webgpu.memory_allocated() - before
    assert 4 * MIB <= grown < 8 * MIB
    assert torch.webgpu.memory_reserved() >= torch.webgpu.memory_allocated()
    assert torch.webgpu.max_memory_allocated() >= before + grown
    del x
    assert torch.webgpu.memory_allocated() == before
    torch.webgpu.reset_peak_memory_stats()
    assert torch.webgpu.max_memory_allocated() == before


def test_accelerator_reports_the_same() -> None:
    x = torch.empty(1000, device="webgpu")
    assert torch.accelerator.memory_allocated() == (
        torch.webgpu.memory_allocated()
    )
    stats = torch.webgpu.memory_stats()
    assert stats["allocated_bytes.all.current"] >= x.nbytes
    assert stats["num_device_alloc"] >= 1
    free, total = torch.webgpu.mem_get_info()
    assert 0 <= free <= total
    assert "allocated" in torch.webgpu.memory_summary()
    torch.webgpu.reset_accumulated_memory_stats()


def test_freed_memory_is_reused() -> None:
    x = torch.empty(3 * MIB, dtype=torch.uint8, device="webgpu")
    del x
    created = torch.webgpu.stats()["buffers_created"]
    x = torch.empty(3 * MIB, dtype=torch.uint8, device="webgpu")
    assert torch.webgpu.stats()["buffers_created"] == created
    del x


def test_empty_cache_gives_back() -> None:
    x = torch.empty(16 * MIB, dtype=torch.uint8, device="webgpu")
    del x
    reserved = torch.webgpu.memory_reserved()
    torch.webgpu.empty_cache()
    assert torch.webgpu.memory_reserved() <= reserved - 16 * MIB


def test_out_of_memory_is_survived() -> None:
    ooms = torch.webgpu.memory_stats()["num_ooms"]
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
        torch.empty(4 * 2**40, dtype=torch.uint8, device="webgpu")
    assert torch.webgpu.memory_stats()["num_ooms"] == ooms + 1
    assert (torch.ones(3, device="webgpu") + 1).tolist() == [2, 2, 2]


def test_a_resize_without_memory_changes_nothing() -> None:
    x = torch.arange(3.0, device="webgpu")
    with pytest.raises(torch.OutOfMemoryError):
        x.resize_(2**40)
    with pytest.raises(torch.OutOfMemoryError):
        x.set_(x.untyped_storage(), 0, (2, 2**40), (1, 2))
    assert x.tolist() == [0, 1, 2]


def test_a_loop_does_not_grow() -> None:
    a = torch.rand(64, 64, device="webgpu")
    x = torch.rand(64, 64, device="webgpu")
    reserved = 0
    for i in range(200):
        x = torch.tanh(x @ a)
        if i == 20:
            reserved = torch.webgpu.memory_reserved()
    assert torch.webgpu.memory_reserved() == reserved
    assert torch.isfinite(x.cpu()).all()
