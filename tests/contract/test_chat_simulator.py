"""The Chat port against the simulator's rules, over real HTTP on loopback."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from agent.domain import ChatRef, Identity, Platform, Source
from agent.ports import Chat, Frame
from connectors.feishu.api import FeishuApi
from connectors.feishu.chat import FeishuChat
from connectors.slack.api import SlackApi
from connectors.slack.chat import SlackChat
from tests.fakes.clock import FakeClock

SOURCES = {"a": Source("a", "Travel", "https://docs.example.com/a", "policy", "2026-01-02")}
PLATFORMS: list[Platform] = ["feishu", "slack"]


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-m", "simulator", "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1]
        server.terminate()


class Room:
    """Alice's direct chat with the bot on one platform."""

    def __init__(self, origin: str, platform: Platform) -> None:
        self.clock = FakeClock()
        self.platform: Platform = platform
        self.control = httpx.AsyncClient(base_url=origin, trust_env=False)
        self.api = (
            FeishuApi("cli_demo0000000001", "demo-app-secret", origin, self.clock)
            if platform == "feishu"
            else SlackApi("xoxb-demo-bot", f"{origin}/api/", self.clock)
        )
        self.chat: Chat = (
            FeishuChat(self.api, self.clock)
            if isinstance(self.api, FeishuApi)
            else SlackChat(self.api, self.clock)
        )
        self.asker = (
            Identity("demo", "feishu", "cli_demo0000000001", "tenant_demo", "ou_demo_alice")
            if platform == "feishu"
            else Identity("demo", "slack", "A0DEMO0001", "T0DEMO0001", "U0ALICE001")
        )
        self.place = ChatRef("", "direct", "")

    async def ask(self) -> None:
        who = {"platform": self.platform, "as": "alice"}
        chats = (await self.control.get("/sim/chats", params=who)).json()
        said = who | {"chat": chats[0]["id"], "text": "hello"}
        message = (await self.control.post("/sim/say", json=said)).json()["message"]
        self.place = ChatRef(chats[0]["id"], "direct", message)

    async def answers(self) -> list[dict[str, Any]]:
        where = {"platform": self.platform, "as": "alice", "chat": self.place.chat}
        if self.platform == "slack":
            where["thread"] = self.place.message
        found = (await self.control.get("/sim/messages", params=where)).json()
        at = next(n for n, m in enumerate(found) if m["id"] == self.place.message)
        return [m for m in found[at + 1 :] if m["author"].get("bot")]

    async def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        await self.control.post("/sim/clock", json={"advance": seconds})


@pytest.fixture(params=PLATFORMS)
async def room(origin: str, request: pytest.FixtureRequest) -> AsyncIterator[Room]:
    room = Room(origin, request.param)
    await room.ask()
    yield room
    await room.control.aclose()
    await room.api.close()


def frame(text: str, *, done: bool = False) -> Frame:
    return Frame("turn", "en", text, sources=SOURCES, done=done, notice="Offline." if done else "")


@pytest.mark.parametrize("pause", [0.0, 700.0])
async def test_answer_is_one_message_with_its_sources(room: Room, pause: float) -> None:
    await room.chat.react(room.place, "seen")
    message = room.chat.begin(room.place, room.asker, f"turn {room.place.message}")
    await message.show(frame("The limit is **800** "))
    await message.show(frame("The limit is **800** yuan a night and "))
    await room.advance(pause)
    await message.show(frame("The limit is **800** yuan a night and more "))
    await message.finish(frame("The limit is **800** yuan a night [src:a].", done=True))
    [shown] = await room.answers()
    words = shown["text"] + str(shown["blocks"] or "")
    assert "The limit is **800** yuan a night [[1]](https://docs.example.com/a)." in words
    assert "Travel" in words
    assert "Offline." in words
    assert not shown["streaming"]


async def test_notices(room: Room) -> None:
    await room.chat.say(room.place, "<!channel> evil.com", f"k {room.place.message}")
    [shown] = await room.answers()
    assert "<!channel>" not in shown["text"]
