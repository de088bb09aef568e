from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture
def binding_limit() -> int:
    """Bytes of one binding, where a tensor above it can be tested."""
    webgpu = torch.webgpu  # type: ignore[attr-defined]
    limit: int = webgpu.adapter_info()["limits"]["max_storage_binding_size"]
    if limit > 512 << 20:
        pytest.skip(f"one binding holds {limit} bytes: too large to test")
    return limit


@pytest.fixture
def no_fallbacks() -> Iterator[None]:
    webgpu = torch.webgpu  # type: ignore[attr-defined]
    webgpu.reset_fallback_counts()
    yield
    assert webgpu.fallback_counts() == {}
