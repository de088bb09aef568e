from collections.abc import Iterator

import numpy as np
import pytest

from tests.wgsl.harness import IMPLEMENTATIONS, Runner, runner


@pytest.fixture(scope="session", params=IMPLEMENTATIONS)
def gpu(request: pytest.FixtureRequest) -> Runner:
    return runner(request.param)


@pytest.fixture(autouse=True)
def quiet_oracles() -> Iterator[None]:
    """The oracles meet infinity and NaN on purpose."""
    with np.errstate(all="ignore"):
        yield
