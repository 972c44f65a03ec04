"""A bot in memory that hears signed events of one platform and answers as its worker does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from agent.desk import Desk, House
from agent.domain import Platform
from agent.durable import keys
from agent.durable.keeper import LeaseKeeper
from agent.durable.records import TurnRecord, Versions
from agent.durable.snapshot import Snapshot
from agent.durable.snapshot import load as load_snapshot
from agent.ports import Condition, Item, Key, Model, Put, Write
from handlers import feishu, receiving, slack
from handlers.receiving import Edge
from handlers.wiring import Receiving
from handlers.worker import drain
from tests.fakes import platform_samples as samples
from tests.fakes.desk import HookedTable, PlainPlace

Json = dict[str, Any]

APPS: dict[Platform, str] = {"feishu": "cli_app", "slack": "A0APP"}
EDGES: dict[Platform, Edge] = {"feishu": feishu.EDGE, "slack": slack.EDGE}
SETTINGS = replace(
    samples.SAMPLES,
    org="hengxing",
    feishu_app_id=APPS["feishu"],
    feishu_bot_open_id="ou_bot",
    slack_app_id=APPS["slack"],
    slack_bot_user="U0BOT",
)
START = 1_764_547_200


@dataclass(frozen=True, slots=True)
class Saying:
    """A message number `number`; `named` are people whom it names, `thread` the root's number.

    `late` is by how many seconds a delivery names another time (Feishu: Slack's time is the id).
    """

    number: int
    text: str
    by: str = "alice"
    direct: bool = True
    thread: int = 0
    mention: bool = False
    named: tuple[str, ...] = ()
    late: int = 0
    foreign: bool = False


def place(direct: bool) -> str:
    """The one direct chat, or the one group."""
    return "D0ONE" if direct else "C0ALL"


class WatchedTable(HookedTable):
    """A table that knows what was ever written to it."""

    def __init__(self) -> None:
        super().__init__()
        self._written: dict[Key, None] = {}

    async def put(self, item: Item) -> None:
        self._note(item)
        await super().put(item)

    async def put_if(self, item: Item, when: Sequence[Condition]) -> None:
        self._note(item)
        await super().put_if(item, when)

    async def transact(self, writes: Sequence[Write]) -> None:
        for write in writes:
            if isinstance(write, Put):
                self._note(write.item)
        await super().transact(writes)

    def _note(self, item: Item) -> None:
        self._written[Key(str(item["pk"]), str(item["sk"]))] = None

    async def items(self) -> list[Item]:
        """All that it holds, in the order in which it came first."""
        found = [await self.get(key) for key in self._written]
        return [item for item in found if item is not None]


class Corner(PlainPlace):
    """A workplace with a front door. People are named by a word; `admins` are administrators.

    Messages are numbered: number n was said n seconds after the start.
    """

    def __init__(
        self,
        folder: Path,
        platform: Platform,
        model: Model | None = None,
        admins: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(folder, model)
        self.platform: Platform = platform
        self.admins = admins
        self.table = self.watched = WatchedTable()
        self.keeper = LeaseKeeper(self.table, self.clock, self.ids)
        self.store = Receiving(self.table, self.queue, self.clock, self.org, *APPS.values())
        self.events = 0

    async def desk(self, record: TurnRecord) -> tuple[Desk, Versions]:
        desk, versions = await super().desk(record)
        admin = record.question.asker.user in {self.user(name) for name in self.admins}
        return replace(desk, house=House(admin=admin), queue=self.queue), versions

    # --- names ---------------------------------------------------------------------------------

    def user(self, name: str) -> str:
        return f"ou_{name}" if self.platform == "feishu" else f"U0{name.upper()}"

    def message(self, number: int) -> str:
        return f"om_{number}" if self.platform == "feishu" else f"{START + number}.000100"

    def turn(self, number: int, *, direct: bool = True) -> str:
        return keys.turn_id(APPS[self.platform], place(direct), self.message(number))

    # --- what happens --------------------------------------------------------------------------

    async def say(self, number: int, text: str, *, event: str = "", **more: Any) -> None:
        """A message is said and delivered; `more` as in Saying."""
        await self.deliver("im.message.receive_v1", self.message_event(number, text, **more), event)

    def message_event(self, number: int, text: str, **more: Any) -> Json:
        """The event of a message, without its envelope; `more` as in Saying."""
        make = self._lark_message if self.platform == "feishu" else self._slack_message
        return make(Saying(number, text, **more))

    async def recall(self, number: int, *, direct: bool = True, event: str = "") -> None:
        """The author takes a message back."""
        chat, message = place(direct), self.message(number)
        if self.platform == "feishu":
            fields: Json = {"chat_id": chat, "message_id": message, "recall_type": "message_owner"}
            await self.deliver("im.message.recalled_v1", fields, event)
            return
        fields = {"type": "message", "subtype": "message_deleted", "channel": chat}
        await self.deliver("", fields | {"deleted_ts": message, "hidden": True}, event)

    async def edit(self, number: int, text: str, at: int, *, direct: bool = True) -> None:
        """The author changes a message at so many seconds after the start (Slack)."""
        message = self._slack_message(Saying(number, text, direct=direct))
        for name in ("channel", "channel_type"):
            del message[name]
        message["edited"] = {"user": message["user"], "ts": f"{START + at}.000000"}
        await self.changed(message, direct=direct)

    async def changed(self, message: Json, *, direct: bool = True) -> None:
        """Slack says how a message reads now."""
        fields = {"type": "message", "subtype": "message_changed", "channel": place(direct)}
        kind = "im" if direct else "channel"
        more = {"hidden": True, "channel_type": kind, "ts": f"{START + 900}.000000"}
        await self.deliver("", fields | more | {"message": message})

    async def deliver(self, kind: str, fields: Json, event: str = "", **envelope: Any) -> None:
        """Bring a signed event."""
        self.events += 1
        name = event or f"Ev{self.events}"
        if self.platform == "feishu":
            header = {
                "event_id": name,
                "token": SETTINGS.feishu_verification_token,
                "create_time": str(START * 1000),
                "event_type": kind,
                "tenant_key": "tenant",
                "app_id": APPS["feishu"],
            }
            payload: Json = {"schema": "2.0", "header": header | envelope, "event": fields}
            request = samples.feishu(payload, SETTINGS, int(self.clock.now()))
        else:
            payload = {
                "type": "event_callback",
                "team_id": "T0TEAM",
                "api_app_id": APPS["slack"],
                "event_id": name,
                "event": fields,
            }
            request = samples.slack(payload | envelope, SETTINGS, int(self.clock.now()))
        await self._bring(request)

    async def command(self, text: str, trigger: str, *, by: str = "alice", **more: str) -> None:
        """A slash command in the person's direct chat, or elsewhere by `channel_id`."""
        fields = {
            "command": "/plumb",
            "text": text,
            "user_id": self.user(by),
            "team_id": "T0TEAM",
            "channel_id": place(direct=True),
            "api_app_id": APPS["slack"],
            "trigger_id": trigger,
            "response_url": "https://example.invalid/reply",
        } | more
        body = urlencode(fields).encode()
        await self._bring(samples.slack(body, SETTINGS, int(self.clock.now()), form=True))

    async def _bring(self, request: Json) -> None:
        edge = EDGES[self.platform]
        answer = await receiving.respond(request, edge, SETTINGS, lambda _: self.store)
        assert answer.status == 200

    async def work(self) -> None:
        """Answer every session that was rung for."""
        while rings := await self.queue.receive(10):
            for ring in rings:
                assert await drain(self, ring.session) is True
                await self.queue.ack(ring.receipt)

    # --- what is there -------------------------------------------------------------------------

    @property
    def answers(self) -> list[str]:
        """What was posted as an answer, to all or to one, in order."""
        return [frame.text for frame in (*self.talk.done, *self.talk.alone)]

    async def turns(self) -> list[TurnRecord]:
        """Every turn that is stored, whatever it is for."""
        items = await self.watched.items()
        return [TurnRecord.from_item(one) for one in items if one["k"] == "turn"]

    async def stored(self, turn: str) -> TurnRecord:
        """The record of a turn."""
        return next(record for record in await self.turns() if record.turn == turn)

    async def remembered(self, number: int, *, direct: bool = True) -> Snapshot:
        """The memory of the session that a message stands in."""
        record = await self.stored(self.turn(number, direct=direct))
        return await load_snapshot(self.table, record.session)

    async def everything(self) -> str:
        """All that the table holds in clear, as text."""
        return repr([*(await self.watched.items())])

    # --- events --------------------------------------------------------------------------------

    def _lark_message(self, said: Saying) -> Json:
        who = [*(["ou_bot"] if said.mention else []), *map(self.user, said.named)]
        mentions = [
            {"key": f"@_user_{n}", "id": {"open_id": one}, "name": one, "tenant_key": "tenant"}
            for n, one in enumerate(who, 1)
        ]
        words = " ".join([*(str(m["key"]) for m in mentions), said.text])
        message: Json = {
            "message_id": self.message(said.number),
            "create_time": str((START + said.number + said.late) * 1000),
            "chat_id": place(said.direct),
            "chat_type": "p2p" if said.direct else "group",
            "message_type": "text",
            "content": json.dumps({"text": words}),
            "mentions": mentions,
        }
        if said.thread:
            root = self.message(said.thread)
            message |= {"root_id": root, "parent_id": root, "thread_id": f"omt_{said.thread}"}
        sender: Json = {"sender_id": {"open_id": self.user(said.by)}, "sender_type": "user"}
        sender["tenant_key"] = "elsewhere" if said.foreign else "tenant"
        return {"sender": sender, "message": message}

    def _slack_message(self, said: Saying) -> Json:
        people = [*(["U0BOT"] if said.mention else []), *map(self.user, said.named)]
        found: Json = {
            "type": "message",
            "channel_type": "im" if said.direct else "channel",
            "channel": place(said.direct),
            "user": self.user(said.by),
            "team": "T0ELSE" if said.foreign else "T0TEAM",
            "text": " ".join([*(f"<@{one}>" for one in people), said.text]),
            "ts": self.message(said.number),
        }
        return found | ({"thread_ts": self.message(said.thread)} if said.thread else {})
