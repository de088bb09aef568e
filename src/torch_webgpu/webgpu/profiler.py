"""GPU time per kernel, from the adapter's timestamps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

from torch_webgpu import _native


class KernelTiming(NamedTuple):
    label: str  # the kernel's name, as in error messages
    begin_ns: int
    end_ns: int

    @property
    def microseconds(self) -> float:
        return (self.end_ns - self.begin_ns) / 1000


@contextlib.contextmanager
def kernel_timings() -> Iterator[list[KernelTiming]]:
    """Collects one timing per dispatch; the list is filled at the end.

    Each dispatch gets a pass of its own meanwhile, so the total is slower
    than normal. Empty where the adapter has no timestamp queries.
    """
    library = _native.load()
    timings: list[KernelTiming] = []
    library.take_timings()
    library.set_profiling(True)
    try:
        yield timings
    finally:
        timings += [KernelTiming(*timing) for timing in library.take_timings()]
        library.set_profiling(False)
