"""Names of hosts without a network."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from connectors import fetcher


@pytest.fixture(autouse=True)
def public_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every host has a public address."""

    async def known(host: str) -> Sequence[str]:
        return ("93.184.216.34",)

    monkeypatch.setattr(fetcher, "look_up", known)
