"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.fakes.opensearch_node import NoNode, running_node
from tests.fakes.simulator_process import RunningSimulator, running_simulator

NEEDS_OPENSEARCH = "needs_opensearch"
REQUIRED = bool(os.environ.get("PLUMBLINE_TESTS_REQUIRE_OPENSEARCH"))  # noqa: TID251  set by CI
"""Whether a test that needs OpenSearch fails where it would be skipped."""

WHOLE_TURNS = (
    "tests/scenario/security/",
    "tests/scenario/test_audience_chat",
    "tests/scenario/test_buttons_answer",
    "tests/scenario/test_commands_chat",
    "tests/scenario/test_erasure_chat",
    "tests/scenario/test_kb_cli",
    "tests/scenario/test_listening",
    "tests/scenario/test_reading_chat",
    "tests/scenario/test_second_thoughts",
    "tests/scenario/test_signin_",
    "tests/scenario/test_turn_faults",
    "tests/scenario/test_turn_sessions",
    "tests/contract/test_feishu_personal",
    "tests/contract/test_personal_slack",
    "tests/contract/test_simulator_",
    "tests/infra/test_opensearch_gate",
    "tests/unit/rag/test_isolated",
    "tests/unit/markup/test_neutral_output",
)
"""Parts whose every test takes seconds: they are slow, so that the gate stays under 90 seconds."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what takes seconds a test."""
    for item in items:
        if item.nodeid.startswith(WHOLE_TURNS):
            item.add_marker(pytest.mark.slow)


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


@pytest.fixture(scope="session")
def opensearch_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one real node for the whole run, all workers included."""
    own: Path = tmp_path_factory.getbasetemp()
    shared = own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own  # noqa: TID251  as pytest-xdist says
    try:
        with running_node(shared / "opensearch") as url:
            yield url
    except NoNode as reason:
        pytest.skip(str(reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where OpenSearch is required, a skipped test that needs it has failed."""
    report = yield
    marked = item.get_closest_marker(NEEDS_OPENSEARCH) is not None
    if REQUIRED and marked and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and OpenSearch is required here: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what was not tried against a real node."""
    skipped = [
        r for r in terminalreporter.stats.get("skipped", []) if NEEDS_OPENSEARCH in r.keywords
    ]
    if skipped:
        line = f"{len(skipped)} TESTS DID NOT MEET A REAL OPENSEARCH: {skipped[0].longrepr[-1]}"
        terminalreporter.write_line(line, red=True, bold=True)


settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "explore")  # noqa: TID251  as pytest itself
