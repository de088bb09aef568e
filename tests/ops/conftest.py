from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture
def no_fallbacks() -> Iterator[None]:
    webgpu = torch.webgpu  # type: ignore[attr-defined]
    webgpu.reset_fallback_counts()
    yield
    assert webgpu.fallback_counts() == {}
