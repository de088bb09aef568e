"""Memory figures; the same as torch.accelerator's, under CUDA's names."""

from __future__ import annotations

from typing import Any

import torch

from torch_webgpu.webgpu._utils import DeviceLike, _get_device_index


def memory_stats(device: DeviceLike = None) -> dict[str, Any]:
    return torch.accelerator.memory_stats(_get_device_index(device))


def memory_allocated(device: DeviceLike = None) -> int:
    """Bytes in live tensors."""
    return torch.accelerator.memory_allocated(_get_device_index(device))


def max_memory_allocated(device: DeviceLike = None) -> int:
    return torch.accelerator.max_memory_allocated(_get_device_index(device))


def memory_reserved(device: DeviceLike = None) -> int:
    """Bytes in all buffers, live or cached for reuse."""
    return torch.accelerator.memory_reserved(_get_device_index(device))


def max_memory_reserved(device: DeviceLike = None) -> int:
    return torch.accelerator.max_memory_reserved(_get_device_index(device))


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    torch.accelerator.reset_peak_memory_stats(_get_device_index(device))


def reset_accumulated_memory_stats(device: DeviceLike = None) -> None:
    torch.accelerator.reset_accumulated_memory_stats(_get_device_index(device))


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """(free, total) bytes; WebGPU itself tells neither.

    The total is the limit that the allocator keeps: most of the RAM on a CPU
    adapter, 0 where it is unknown.
    """
    return torch.accelerator.get_memory_info(_get_device_index(device))


def empty_cache() -> None:
    """Gives cached buffers back to the driver."""
    torch.accelerator.empty_cache()


def memory_summary(device: DeviceLike = None, abbreviated: bool = False) -> str:
    """The figures as a table."""
    stats = memory_stats(device)
    rows = [("allocated", "allocated_bytes"), ("reserved", "reserved_bytes")]
    if not abbreviated:
        rows.append(("requested", "requested_bytes"))
    lines = [f"{'torch.webgpu memory':<20}{'current':>16}{'peak':>16}"]
    for title, key in rows:
        current = stats.get(f"{key}.all.current", 0)
        peak = stats.get(f"{key}.all.peak", 0)
        lines.append(f"{title:<20}{current:>14} B{peak:>14} B")
    lines.append(
        f"{'buffers':<20}{stats.get('segment.all.current', 0):>16}"
        f"{stats.get('num_device_alloc', 0):>16} created"
    )
    lines.append(
        f"{'out of memory':<20}{stats.get('num_ooms', 0):>16}"
        f"{stats.get('num_alloc_retries', 0):>16} retries"
    )
    return "\n".join(lines)
