"""Fixtures shared by all tests."""

from collections.abc import Iterator

import pytest

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
