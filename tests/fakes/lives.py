"""Two people of one thread and all that can be kept of a person, written by the real code."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from agent.dialogue import Message, ModelReply, Text, ToolCall, ToolReply, Usage
from agent.domain import EVERYONE, Answer, ChatRef, Identity, Material, Passage, Question
from agent.durable import answers, inbox, keys, lock, pauses, preferences, private_context, snapshot
from agent.durable.answers import Evidence
from agent.durable.journal import Journal
from agent.durable.outbox import Outbox
from agent.durable.records import TurnRecord, new_item
from agent.durable.snapshot import Exchange
from agent.stores.folder_blobs import FolderBlobs
from agent.stores.local_key_cipher import LocalKeyCipher
from agent.stores.sqlite_table import SqliteTable
from agent.stores.system_clock import RandomIds
from connectors.credentials import Grant, Vault
from connectors.directory import OrganisationDirectory, Standing
from connectors.rooms import PlatformRooms, Roster
from connectors.signin import SignIns
from handlers.configuration import Configuration
from handlers.surface import feedback
from tests.fakes.clock import FakeClock

ALICE = Identity("default", "slack", "A1", "T1", "U1", "Alice Wagner")
BOB = Identity("default", "slack", "A1", "T1", "U2", "Bob Carter")
ROOM = ChatRef("C1", "group", "", thread="1764547100.000100")
NAMES = {ALICE.user: ALICE.name, BOB.user: BOB.name}


def canary(person: Identity, what: str) -> str:
    """A word that only this person's data of this kind holds."""
    return f"canary-{person.user}-{what}-{'q' * 8}"


class Told:
    """A platform that knows both."""

    unknown = Standing("guest")

    async def standing(self, person: Identity) -> Standing:
        return Standing("member", f"{NAMES[person.user]} {canary(person, 'directory')}")


@dataclass
class Lives:
    """The stores under one folder."""

    folder: Path

    def __post_init__(self) -> None:
        self.clock = FakeClock()
        self.table = SqliteTable(self.folder / "table.sqlite")
        self.blobs = FolderBlobs(self.folder / "blobs")
        self.cipher = LocalKeyCipher(self.folder / "key")
        self.ids = RandomIds()

    async def live(self) -> None:
        """Both ask in one thread, twice, and do all that leaves something behind."""
        await self.table._file.read(_forgetful)  # pyright: ignore[reportPrivateUsage]  as other builds of SQLite are
        for n, person in enumerate((ALICE, BOB, ALICE, BOB)):
            await self.turn(person, f"176454720{n}.000100")
        for person in (ALICE, BOB):
            await self.choices(person)

    async def turn(self, person: Identity, message: str) -> None:
        """A question in the thread, from its arrival to its answer."""
        record, lease = await self.begin(person, message)
        await self.steps(record, person)
        await self.end(record, lease, person)

    async def begin(self, person: Identity, message: str) -> tuple[TurnRecord, lock.Lease]:
        """A turn that runs; what others said in the thread came along."""
        other = BOB if person is ALICE else ALICE
        question = Question(
            person,
            ChatRef(ROOM.chat, "group", message, ROOM.thread),
            canary(person, "question"),
            "en",
            float(message),
            material=(
                Material("thread", other.name, 1.0, canary(other, "quoted")),
                Material("thread", other.user, 2.0, canary(other, "quoted-by-id")),
                Material("thread", "Carla", 3.0, "somebody else's words"),
            ),
        )
        accepted = await inbox.accept(self.table, self.clock, question, f"ev-{message}")
        session = accepted.session
        lease = await lock.acquire(self.table, self.clock, self.ids, session, "w", person.org)
        record = await inbox.oldest_pending(self.table, session)
        assert lease is not None
        assert record is not None
        return await inbox.start(self.table, self.clock, record, lease.fence), lease

    async def end(self, record: TurnRecord, lease: lock.Lease, person: Identity) -> None:
        """Save answer and memory, and let the thread go."""
        session, question = record.session, record.question
        thread = await snapshot.load(self.table, session)
        posted = canary(person, "posted")
        exchange = Exchange(question.chat.message, person.principal, question.text, posted, 1.0)
        answer = Answer(canary(person, "answer"), (), "answered", "m", 1)
        evidence = Evidence((Passage("kb-1", "T", canary(person, "evidence")),))
        box = await answers.seal(
            self.cipher, self.clock, record, answer, frozenset((EVERYONE,)), evidence
        )
        memory = thread.after(exchange)
        put = snapshot.save(memory, session, person.org, lease.fence, self.clock.now())
        await inbox.finish(self.table, self.clock, record, lease, "DONE", answer=box, snapshot=put)
        self.clock.advance(1)

    async def steps(self, record: TurnRecord, person: Identity) -> None:
        """What a running turn writes."""
        journal = Journal(self.table, self.clock, record)
        call = ToolCall("c1", "search_my_messages", {"query": canary(person, "query")})
        reply = ModelReply(Message("assistant", (call,)), "tools", Usage(1, 1), "m")
        await journal.model_step(1, reply)
        await journal.tool_step(1, call, ToolReply("c1", canary(person, "found"), error=False))
        said = Message("assistant", (Text(canary(person, "said") + "x" * 40_000),))
        await journal.model_step(2, ModelReply(said, "end", Usage(1, 1), "m"))
        await journal.visible(canary(person, "visible"))
        outbox = Outbox(self.table, self.clock, record)
        await outbox.intend("answer")
        await outbox.sent("answer", canary(person, "handle"))
        context = {record.question.chat.message: (canary(person, "private"), frozenset("p"), 1.0)}
        await self.table.put(
            (await private_context.seal(self.cipher, self.clock, record, context)).item
        )
        await feedback.give(
            self.table, self.clock, record, person, "said", canary(person, "opinion")
        )
        other = BOB if person is ALICE else ALICE
        about = canary(other, "opinion-of-another's")
        await feedback.give(self.table, self.clock, record, other, "said", about)
        await feedback.claim(self.table, self.clock, person.org, record.turn, "escalate", "by")
        share = new_item(keys.claim(record.turn, "shared"), "share", person.org, 0.0, record.owner)
        await self.table.put(share | {"who": person.principal})

    async def choices(self, person: Identity) -> None:
        """Preferences, tokens, sign-ins, directory, rosters, pauses and objects."""
        chosen = preferences.Preferences("en", canary(person, "model"), frozenset(("kb",)))
        await preferences.save(self.table, self.clock, person.org, person.principal, chosen)
        vault = Vault(self.table, self.cipher, self.clock, self.ids)
        grant = Grant(canary(person, "token"), frozenset((canary(person, "scope"),)))
        await vault.keep(person, grant, frozenset(("search",)))
        asked = Question(person, ROOM, canary(person, "sign-in"), "en", 1.0)
        await SignIns(self.table, self.cipher, self.clock, self.ids).begin(asked, frozenset(("x",)))
        offered = keys.offered(person.principal)
        await self.table.put(new_item(offered, "offered", person.org, 1.0, person.principal))
        key = keys.data_key(person.principal)
        await self.table.put({"pk": key.pk, "sk": key.sk, "key": canary(person, "key")})
        directory = OrganisationDirectory(
            self.table, self.clock, person.org, Configuration(), lambda _: Told()
        )
        await directory.labels(person)
        await directory.drop()
        await directory.labels(person)

        async def roster(chat: ChatRef, asker: Identity) -> Roster:
            del chat, asker
            return Roster(tuple((u, "T1", False) for u in NAMES), outsiders=False)

        await PlatformRooms(self.table, self.clock, roster).members(ROOM, person)
        place = keys.short(f"pause of {person.user}")
        await pauses.pause(self.table, self.clock, person.org, place, person.principal)
        for kind in ("turn", "img"):
            path = f"{kind}/{person.principal}/t1/1-abc"
            await self.blobs.put(path, canary(person, "object").encode())

    def found(self) -> set[str]:
        """Every canary in any file, raw and in what can be unpacked of it."""
        text = b""
        for file in sorted(self.folder.rglob("*")):
            text += str(file).encode() + (file.read_bytes() if file.is_file() else b"")
        return set(re.findall(r"canary-[\w'-]+?-q{8}", (opened(text)).decode(errors="replace")))

    async def boxes(self, principal: str) -> int:
        """How many items of a person there are; what is sealed among them can not be searched."""
        return len(await self.table.query_index("own", principal))


def _forgetful(db: sqlite3.Connection) -> None:
    """Let deleted rows stay in their pages, which Debian's SQLite would overwrite."""
    db.execute("PRAGMA secure_delete = OFF")


def opened(text: bytes) -> bytes:
    """The bytes with every base64 text in them decoded and inflated behind them."""
    more: list[bytes] = [text]
    for packed in re.findall(rb"[A-Za-z0-9+/]{40,}={0,2}", text):
        try:
            raw = base64.b64decode(packed)
        except ValueError:
            continue
        more.append(raw)
        try:
            more.append(zlib.decompress(raw))
        except zlib.error:
            continue
    return b"\n".join(more)


def kinds(path: Path) -> set[str]:
    """The kinds of items in a table's file."""
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT body FROM items").fetchall()
    db.close()
    return {cast(str, json.loads(row[0]).get("k")) for row in rows} - {None}
