"""Fixtures shared by all tests."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.fakes.simulator_process import RunningSimulator, running_simulator


@pytest.fixture(scope="session")
def simulator_server() -> Iterator[RunningSimulator]:
    """One simulator for the whole run."""
    with running_simulator() as server:
        yield server


@pytest.fixture
def simulator(simulator_server: RunningSimulator) -> RunningSimulator:
    """The simulator, put back to its start."""
    simulator_server.reset()
    return simulator_server


settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "explore")  # noqa: TID251  as pytest itself
