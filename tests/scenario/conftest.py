"""The stage that scenario tests of the bot share: one simulator and index for each process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from agent.domain import Platform
from agent.ports import Model
from tests.fakes.stage import Stage, Theatre, staged, theatre

Open = Callable[..., AbstractAsyncContextManager[Stage]]
PLATFORMS: list[Platform] = ["feishu", "slack"]
SLACK_LATER = pytest.mark.parametrize(
    "platform", ["feishu", pytest.param("slack", marks=pytest.mark.slow)]
)
"""For what differs little between the platforms: Slack, with its second between posts, is slow."""


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """The simulator and the indexed knowledge base of this process."""
    with theatre(tmp_path_factory.mktemp("stage")) as opened:
        yield opened


@pytest.fixture(params=PLATFORMS)
def platform(request: pytest.FixtureRequest) -> Platform:
    return request.param


@pytest.fixture
def stage(house: Theatre, platform: Platform, tmp_path: Path) -> Open:
    """Opens a bot with state of its own on the platform: `stage(model, retool=…)`."""

    def opened(model: Model | None = None, **more: Any) -> AbstractAsyncContextManager[Stage]:
        return staged(house, platform, tmp_path / "state", model, **more)

    return opened
