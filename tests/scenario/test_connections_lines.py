"""Events over long connections reach the inbox: the simulator plays both platforms' ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.durable import inbox
from agent.durable.records import TurnRecord
from agent.errors import Misconfigured, Unavailable
from handlers import wiring
from handlers.cli.workspace import demo_settings
from handlers.connections.opening import check, long_connections
from handlers.connections.slack_socket import socket_mode
from handlers.settings import Settings
from tests.fakes.simulator_process import RunningSimulator

pytestmark = pytest.mark.slow

Json = dict[str, Any]
SLACK_DIRECT = "D0ALICE001"
LARK_DIRECT = "oc_demo_p2p_alice"


@pytest.fixture
def settings(simulator: RunningSimulator, tmp_path: Path) -> Settings:
    return demo_settings(Settings(home=str(tmp_path)), simulator.origin)


async def until(true: Callable[[], object], seconds: float = 30.0) -> None:
    for _ in range(int(seconds / 0.05)):
        if await asyncio.to_thread(true):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("waited in vain")


async def pending(settings: Settings) -> list[TurnRecord]:
    """What the rings of the embedded queue lead to, oldest turn of each session."""
    store = wiring.receiving(settings)
    found: list[TurnRecord] = []
    for ring in await store.queue.receive(10):
        record = await inbox.oldest_pending(store.table, ring.session)
        assert record is not None
        found.append(record)
    return found


def lines(simulator: RunningSimulator) -> dict[str, bool]:
    return simulator.get("config")["lines"]


def delivered(simulator: RunningSimulator) -> list[Json]:
    return [d for d in simulator.get("deliveries") if d["status"] == "delivered"]


class TestSlack:
    async def test_a_message_stands_in_the_inbox_before_it_is_acknowledged(
        self, simulator: RunningSimulator, settings: Settings
    ) -> None:
        async with socket_mode(settings):
            assert lines(simulator)["slack"]
            await asyncio.to_thread(simulator.say, "slack", "alice", SLACK_DIRECT, "over the line")
            await until(lambda: delivered(simulator))
            assert [r.question.text for r in await pending(settings)] == ["over the line"]
        await until(lambda: not lines(simulator)["slack"])
        assert simulator.bot.delivered == []

    async def test_a_command_and_a_button_are_answered_over_the_line(
        self, simulator: RunningSimulator, settings: Settings
    ) -> None:
        async with socket_mode(settings):
            body = {"as": "alice", "chat": SLACK_DIRECT, "command": "/plumb", "text": "help"}
            answer = (await asyncio.to_thread(simulator.post, "command", body))["answer"]
            assert answer["text"]
            ts = simulator.say("slack", "alice", SLACK_DIRECT, "hello")
            press: Json = {"platform": "slack", "as": "alice", "chat": SLACK_DIRECT, "message": ts}
            press["action"] = {"action_id": "a", "value": "v"}
            pressed = await asyncio.to_thread(simulator.post, "press", press)
            assert pressed["answer"] == {}

    async def test_a_store_that_fails_leaves_the_envelope_open(
        self,
        simulator: RunningSimulator,
        settings: Settings,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        blocked = tmp_path / "file"
        blocked.write_text("no folder")
        async with socket_mode(replace(settings, home=str(blocked))):
            simulator.say("slack", "alice", SLACK_DIRECT, "a secret question")
            await until(lambda: "outcome=fault" in caplog.text)
            assert delivered(simulator) == []
        assert "secret" not in caplog.text

    async def test_a_connection_that_slack_ends_is_opened_anew(
        self, simulator: RunningSimulator, settings: Settings
    ) -> None:
        async with socket_mode(settings):
            await asyncio.to_thread(simulator.post, "disconnect", {"platform": "slack"})
            await until(lambda: lines(simulator)["slack"])
            await asyncio.to_thread(simulator.say, "slack", "alice", SLACK_DIRECT, "still here")
            await until(lambda: delivered(simulator))

    async def test_a_wrong_token_is_named(
        self, simulator: RunningSimulator, settings: Settings
    ) -> None:
        with pytest.raises(Misconfigured, match="PLUMBLINE_SLACK_APP_TOKEN"):
            async with socket_mode(replace(settings, slack_app_token="xapp-wrong")):
                pass

    async def test_nobody_there_is_said(self, settings: Settings) -> None:
        nowhere = replace(settings, slack_base_url="http://127.0.0.1:9/api/")
        with pytest.raises(Unavailable, match="Slack can not be reached"):
            async with socket_mode(nowhere):
                pass


class TestFeishu:
    async def test_the_child_brings_messages_and_answers_callbacks(
        self, simulator: RunningSimulator, settings: Settings, tmp_path: Path
    ) -> None:
        async with long_connections(settings, feishu=True, slack=False):
            await until(lambda: lines(simulator)["feishu"])
            message = await asyncio.to_thread(
                simulator.say, "feishu", "alice", LARK_DIRECT, "over the line"
            )
            await until(lambda: delivered(simulator))
            assert [r.question.text for r in await pending(settings)] == ["over the line"]
            press: Json = {
                "platform": "feishu",
                "as": "alice",
                "chat": LARK_DIRECT,
                "message": message,
            }
            press["action"] = {"value": "plain text", "tag": "button"}
            answer = (await asyncio.to_thread(simulator.post, "press", press))["answer"]
            assert "error" not in answer
            # A reaction is an event that the SDK's own dispatcher would refuse.
            react = {"platform": "feishu", "as": "alice", "message": message, "name": "OK"}
            await asyncio.to_thread(simulator.post, "react", react)
            await until(lambda: len(delivered(simulator)) == 3)
            await asyncio.to_thread(simulator.post, "disconnect", {"platform": "feishu"})
            await until(lambda: lines(simulator)["feishu"])
            assert simulator.bot.delivered == []
        await until(lambda: not lines(simulator)["feishu"])

    async def test_the_child_ends_with_its_input(
        self, simulator: RunningSimulator, settings: Settings
    ) -> None:
        """The server was killed: nobody writes to the child any more."""
        from handlers.connections.child import command, settings_line
        from handlers.connections.opening import FEISHU_CHILD

        child = subprocess.Popen(command(FEISHU_CHILD), stdin=subprocess.PIPE)  # noqa: ASYNC220 - the test is the parent
        assert child.stdin is not None
        child.stdin.write(settings_line(settings))
        child.stdin.flush()
        await until(lambda: lines(simulator)["feishu"])
        child.stdin.close()
        assert await asyncio.to_thread(child.wait, 10) == 0


class TestWhatIsMissing:
    def test_settings_are_named(self) -> None:
        with pytest.raises(Misconfigured, match="PLUMBLINE_FEISHU_APP_SECRET"):
            check(Settings(feishu_app_id="a"), feishu=True, slack=False)
        with pytest.raises(Misconfigured, match="PLUMBLINE_SLACK_APP_TOKEN"):
            check(Settings(slack_bot_token="b"), feishu=False, slack=True)

    @pytest.mark.parametrize("package", ["lark_oapi", "slack_sdk"])
    def test_a_package_is_named_with_the_next_step(
        self, monkeypatch: pytest.MonkeyPatch, package: str
    ) -> None:
        def absent(name: str) -> None:
            return None

        monkeypatch.setattr("handlers.connections.opening.find_spec", absent)
        settings = Settings(
            feishu_app_id="a", feishu_app_secret="b", slack_app_token="c", slack_bot_token="d"
        )
        feishu = package == "lark_oapi"
        with pytest.raises(Misconfigured, match="make connections"):
            check(settings, feishu=feishu, slack=not feishu)

    def test_the_serving_process_loads_no_sdk(self) -> None:
        script = (
            "import sys, handlers.cli.demo, handlers.connections.opening,"
            " handlers.connections.slack_socket, handlers.connections.feishu_long;"
            "print([m for m in ('lark_oapi', 'slack_sdk', 'slack_bolt') if m in sys.modules])"
        )
        root = Path(__file__).parents[2]
        shown = subprocess.run(
            [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
        )
        assert shown.stdout.strip() == "[]"
