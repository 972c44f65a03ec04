"""A child that ends is started anew, with pauses that grow and start small again."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from handlers.connections import child
from handlers.settings import Settings
from tests.fakes.clock import NoTimers


class Pauses(NoTimers):
    """A clock whose sleeps are noted; each child seems to live as long as `lives` says."""

    def __init__(self, lives: list[float]) -> None:
        self.slept: list[float] = []
        self._lives = lives
        self._now = 0.0
        self._looks = 0

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        self._looks += 1
        if self._looks % 2 == 0:
            self._now += self._lives[len(self.slept)]
        return self._now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if len(self.slept) == len(self._lives):
            raise asyncio.CancelledError


async def _pauses(lives: list[float]) -> list[float]:
    clock = Pauses(lives)
    with pytest.raises(asyncio.CancelledError):
        await child.keep_running("test", (sys.executable, "-c", "raise SystemExit(3)"), b"", clock)
    return clock.slept


async def test_pauses_double_and_a_steady_child_starts_them_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert await _pauses([0, 0, 0, 100, 0]) == [1, 2, 4, 1, 2]
    assert "connection=test ended status=3" in caplog.text


async def test_pauses_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "LONGEST_PAUSE", 3.0)
    assert await _pauses([0, 0, 0, 0]) == [1, 2, 3, 3]


async def test_the_child_gets_its_line_and_ends_with_the_parent(tmp_path: Path) -> None:
    got = tmp_path / "got"
    program = f"import sys, pathlib; pathlib.Path({str(got)!r}).write_text(input()); input()"
    work = child.keep_running("test", (sys.executable, "-c", program), b"hello\n", Pauses([0]))
    task = asyncio.create_task(work)
    for _ in range(200):
        if got.exists() and got.read_text():
            break
        await asyncio.sleep(0.05)
    assert got.read_text() == "hello"
    task.cancel()
    await asyncio.wait((task,))
    assert task.cancelled()


def test_the_line_holds_all_settings_and_whole_paths() -> None:
    settings = Settings(home="here", feishu_app_secret="s")
    line = json.loads(child.settings_line(settings))
    assert Settings(**line).feishu_app_secret == "s"
    assert Path(line["home"]).is_absolute()
    assert line["state"] == ""
