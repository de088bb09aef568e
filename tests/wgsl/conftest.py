import pytest
from harness import IMPLEMENTATIONS, Runner, runner


@pytest.fixture(scope="session", params=IMPLEMENTATIONS)
def gpu(request: pytest.FixtureRequest) -> Runner:
    return runner(request.param)
