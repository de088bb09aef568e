"""Shared by every Python test: the device is loaded, seeds are fixed."""

from __future__ import annotations

import os
import random

import numpy
import pytest
import torch

# What runs must be represented in the list that is validated offline.
os.environ.setdefault("TORCH_WEBGPU_CHECK_LISTED", "1")

import torch_webgpu  # noqa: E402, F401  registers the device


def pytest_report_header() -> list[str]:
    webgpu = torch.webgpu  # type: ignore[attr-defined]
    return [
        f"torch {torch.__version__}, "
        f"webgpu implementation: {webgpu.implementation()}, "
        f"adapter: {webgpu.adapter_info().get('name')}"
    ]


@pytest.fixture(autouse=True)
def fixed_seeds() -> None:
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
