"""Philox 4x32 with ten rounds, and what the kernels make of its bits: the
numbers that a seed must give on every implementation. With bounds for what
chance explains."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import torch

COUNT = 1 << 18
SEED = 2**40 + 12345
Fill = Callable[[torch.Tensor], torch.Tensor]
MASK = np.uint64(0xFFFFFFFF)


def philox(counter: list[np.ndarray], seed: int) -> list[np.ndarray]:
    """The four words (as uint64) of each counter's block."""
    c = [word.astype(np.uint64) for word in counter]
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first = np.uint64(0xD2511F53) * c[0]
        second = np.uint64(0xCD9E8D57) * c[2]
        c = [
            (second >> np.uint64(32)) ^ c[1] ^ np.uint64(keys[0]),
            second & MASK,
            (first >> np.uint64(32)) ^ c[3] ^ np.uint64(keys[1]),
            first & MASK,
        ]
        keys = [
            (keys[0] + 0x9E3779B9) & 0xFFFFFFFF,
            (keys[1] + 0xBB67AE85) & 0xFFFFFFFF,
        ]
    return c


def bits(
    count: int, seed: int, offset: int = 0, which: int = 0
) -> torch.Tensor:
    """One 32-bit word for each element, four of each counter; float64 holds
    them exactly."""
    place = np.arange(offset, offset + (count + 3) // 4, dtype=np.uint64)
    zero = np.zeros_like(place)
    counter = [place & MASK, place >> np.uint64(32), zero + which, zero]
    words = np.stack(philox(counter, seed), axis=1).reshape(-1)[:count]
    return torch.from_numpy(words.astype(np.float64))


def state(seed: int, offset: int) -> torch.Tensor:
    """For torch.webgpu.set_rng_state."""
    return torch.tensor(list(struct.pack("<QQ", seed, offset))).byte()


def offset_of(rng_state: torch.Tensor) -> int:
    return int(struct.unpack("<QQ", bytes(rng_state.tolist()))[1])


def chi_square_fits(counts: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether counts are within what chance explains (about 4 sigma)."""
    statistic = ((counts - expected) ** 2 / expected).sum().item()
    freedom = counts.numel() - 1
    return bool(statistic < freedom + 4 * (2 * freedom) ** 0.5 + 8)


def drawn(
    fill: Fill,
    shape: int | tuple[int, ...] = COUNT,
    dtype: torch.dtype = torch.float32,
    seed: int = SEED,
) -> torch.Tensor:
    """What `fill` makes of a tensor on the device."""
    torch.manual_seed(seed)
    return fill(torch.empty(shape, dtype=dtype, device="webgpu")).cpu()


def correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    return float(torch.corrcoef(torch.stack([a, b]))[0, 1].item())
