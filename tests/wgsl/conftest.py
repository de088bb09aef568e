from collections.abc import Iterator

import numpy as np
import pytest

from tests.wgsl.harness import IMPLEMENTATIONS, Runner, runner
from tests.wgsl.values import Subnormals


@pytest.fixture(scope="session", params=IMPLEMENTATIONS)
def gpu(request: pytest.FixtureRequest) -> Runner:
    gpu = runner(request.param)
    tiny = np.array([2.0**-130], "f4")
    Subnormals.kept = bool(gpu.evaluate("a * 0.5", [tiny], "f32")[0] != 0)
    return gpu


@pytest.fixture(autouse=True)
def quiet_oracles() -> Iterator[None]:
    """The oracles meet infinity and NaN on purpose."""
    with np.errstate(all="ignore"):
        yield
