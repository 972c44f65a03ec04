"""Who sees what of a turn in a group: by what the model has read, step by step."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent import phrases
from agent.delivery import Delivery
from agent.dialogue import Message, ModelEvent, ModelRequest, Text, TextDelta
from agent.domain import EVERYONE, ChatKind, ChatRef, Identity, Passage, Question, Source
from agent.durable import answers, inbox, keys, private_context, snapshot
from agent.durable.records import TurnRecord
from agent.errors import ModelFailed, PlatformRefused, Unavailable
from agent.ports import Item, Key, Put, Write
from agent.stores.memory_table import MemoryTable
from handlers.surface import share
from handlers.surface.forgetting import FORGET
from handlers.worker import drain
from tests.fakes.desk import PlainPlace, asked
from tests.fakes.rooms import FixedDirectory, FixedRooms
from tests.fakes.scripted_model import Played, ScriptedModel, call, reply
from tests.fakes.turns import ALICE

BOB = replace(ALICE, user="ou_demo_bob", name="Bob")
NEUTRAL = phrases.kept_private("en")
LOOK = reply(call("search", {"query": "bonus"}))
HR = frozenset(("group:hr",))


def passages(readers: frozenset[str], source: str = "kb-hr") -> tuple[Passage, ...]:
    return (Passage(source, "Bonus plan", "The pool is 4.2 million.", readers=readers),)


class Room:
    """A group of Alice and Bob, a library with one restricted document."""

    def __init__(self, folder: Path, *script: Played, both: bool = False):
        self.model = ScriptedModel(list(script))
        self.place = PlainPlace(folder, self.model)
        self.place.library.found = {
            "bonus": passages(HR),
            "travel": passages(frozenset((EVERYONE,)), "kb-travel"),
        }
        self.rooms = FixedRooms((ALICE, BOB))
        groups = {ALICE.user: {"hr"}} | ({BOB.user: {"hr"}} if both else {})
        self.place.known_rooms, self.place.directory = self.rooms, FixedDirectory(groups)

    def question(self, text: str, n: int = 1, who: Identity = ALICE, root: str = "") -> Question:
        chat = ChatRef("oc_room", "group", f"om_{n}", thread=root or None)
        return asked(text, n, chat=chat, asker=who)

    async def hear(self, question: Question) -> str:
        """Let a question be answered; its turn."""
        accepted = await self.place.accept(question)
        assert await drain(self.place, accepted.session)
        return accepted.turn

    @property
    def told(self) -> str:
        """What stands in the group at the end."""
        return self.place.talk.done[-1].text

    @property
    def alone(self) -> str:
        """What the asker got alone at the end."""
        return self.place.talk.alone[-1].text

    @property
    def ever_shown(self) -> str:
        """Every word that the group could see at any moment."""
        return "\n".join(f.text + f.notice for f in (*self.place.talk.shown, *self.place.talk.done))


async def unnoted(handle: str) -> None:
    """Nobody wants to know what became of the message."""


async def test_a_restricted_document_is_told_to_the_asker_alone(tmp_path: Path) -> None:
    room = Room(tmp_path, LOOK, "4.2 million [src:kb-hr].")
    turn = await room.hear(room.question("How large is the bonus?"))
    assert room.told == NEUTRAL
    assert room.alone == "4.2 million [src:kb-hr]."
    assert "4.2" not in room.ever_shown
    for frame in (*room.place.talk.shown, *room.place.talk.done):
        assert not frame.sources, "not even the table of sources reaches the room"
    last = room.place.talk.alone[-1]
    assert [c.action for c in last.controls][:2] == [share.SHARE, "sources"]
    assert last.sources is not None
    assert list(last.sources) == ["kb-hr"]
    [said] = room.place.talk.done
    assert not said.controls
    assert not said.sources
    stored = await answers.load(
        room.place.table, room.place.cipher, turn, room.question("").asker.principal
    )
    assert stored is not None
    assert stored.readers == HR


async def test_what_was_read_counts_though_it_is_not_cited(tmp_path: Path) -> None:
    room = Room(tmp_path, LOOK, "It is a nice sum.")
    await room.hear(room.question("How large is the bonus?"))
    assert (room.told, room.alone) == (NEUTRAL, "It is a nice sum.")


async def test_where_all_may_read_it_the_room_hears_it_as_it_comes(tmp_path: Path) -> None:
    room = Room(tmp_path, LOOK, "4.2 million [src:kb-hr].", both=True)
    await room.hear(room.question("How large is the bonus?"))
    assert room.told == "4.2 million [src:kb-hr]."
    assert room.place.talk.alone == []
    assert share.SHARE not in [c.action for c in room.place.talk.done[-1].controls]


async def test_words_that_stream_into_the_room_come_with_their_sources(tmp_path: Path) -> None:
    class Slow(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            async for event in super().stream(request):
                yield event
                await room.place.hands.sleep(2.0)

    room = Room(tmp_path, both=True)
    room.place.model = Slow([LOOK, "4.2 million [src:kb-hr], which is a nice sum."])
    await room.hear(room.question("How large is the bonus?"))
    worded = [f for f in room.place.talk.shown if f.text]
    assert worded
    assert all(list(f.sources or {}) == ["kb-hr"] for f in worded)


async def test_words_before_a_call_are_provisional(tmp_path: Path) -> None:
    first = reply("Travel is easy. Let me see.", call("search", {"query": "bonus"}))
    room = Room(tmp_path, first, "4.2 million.")
    await room.hear(room.question("Travel and bonus?"))
    assert room.told == NEUTRAL
    assert "4.2" not in room.ever_shown
    assert room.alone == "4.2 million."
    assert all("Travel" not in f.text for f in room.place.talk.alone)


async def test_a_step_that_breaks_off_in_private_ends_in_private(tmp_path: Path) -> None:
    half: Played = [TextDelta("The pool is 4.2"), Unavailable("gone")]
    room = Room(tmp_path, LOOK, half, half, half)
    await room.hear(room.question("How large is the bonus?"))
    assert "4.2" not in room.ever_shown
    assert room.told == NEUTRAL
    assert room.place.talk.alone[-1].notice == phrases.error("en", "PL-102")


async def test_a_fault_before_any_word_is_told_in_the_group(tmp_path: Path) -> None:
    room = Room(tmp_path, LOOK, ModelFailed("no"))
    await room.hear(room.question("How large is the bonus?"))
    assert room.place.talk.done[-1].notice == phrases.error("en", "PL-304")
    assert room.place.talk.alone == []


async def test_the_step_limit_lists_private_titles_to_the_asker_alone(tmp_path: Path) -> None:
    room = Room(tmp_path, LOOK, LOOK)
    room.place.limits = type(room.place.limits)(steps=2)
    await room.hear(room.question("How large is the bonus?"))
    assert "Bonus plan" in room.alone
    assert room.told == NEUTRAL
    assert "Bonus plan" not in room.ever_shown


async def test_an_organisation_answer_asks_for_no_members(tmp_path: Path) -> None:
    room = Room(tmp_path, reply(call("search", {"query": "travel"})), "Train [src:kb-travel].")
    await room.hear(room.question("How do I travel?"))
    assert room.told == "Train [src:kb-travel]."
    assert room.rooms.asked == ["outsiders"] * len(room.rooms.asked)


async def test_an_outsider_in_the_room_is_told_nothing(tmp_path: Path) -> None:
    room = Room(tmp_path, reply(call("search", {"query": "travel"})), "Train [src:kb-travel].")
    room.rooms.outside = True
    await room.hear(room.question("How do I travel?"))
    assert (room.told, room.alone) == (NEUTRAL, "Train [src:kb-travel].")


async def test_members_that_nobody_can_name_cover_nothing(tmp_path: Path) -> None:
    room = Room(tmp_path, "Hello.")
    room.rooms.fault = Unavailable("down")
    await room.hear(room.question("Hello?"))
    assert (room.told, room.alone) == (NEUTRAL, "Hello.")


async def test_a_direct_chat_that_can_not_be_opened_is_told(tmp_path: Path) -> None:
    room = Room(tmp_path, LOOK, "4.2 million [src:kb-hr].")
    room.place.talk.faults.append(PlatformRefused("no", "cannot_dm"))
    await room.hear(room.question("How large is the bonus?"))
    assert room.place.talk.done[-1].notice == phrases.error("en", "PL-302")
    assert "4.2" not in room.ever_shown


async def test_members_are_looked_up_while_the_model_begins(tmp_path: Path) -> None:
    """The model waits for the look-up to begin, and the look-up for the model: both must run."""
    room = Room(tmp_path)
    looking, thinking = asyncio.Event(), asyncio.Event()

    class Model(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            thinking.set()
            await asyncio.wait_for(looking.wait(), 1)
            async for event in super().stream(request):
                yield event

    class Slow(FixedRooms):
        async def outsiders(self, chat: ChatRef, asker: Identity) -> bool:
            looking.set()
            await asyncio.wait_for(thinking.wait(), 1)
            return False

    room.place.model, room.place.known_rooms = Model(["Hello."]), Slow()
    await room.hear(room.question("Hello?"))
    assert room.told == "Hello."


async def test_words_that_went_to_the_room_are_taken_back_when_readers_narrow(
    tmp_path: Path,
) -> None:
    """Delivery alone, without a loop that drops provisional words by itself."""
    room = Room(tmp_path, "Travel is easy.", "4.2 million.")
    record = await room.place.begun(room.question("Travel and bonus?"))
    desk, _ = await room.place.desk(record)
    table: dict[str, Source] = {}
    asked_ = ModelRequest("policy", (), (Message("user", (Text("?"),)),))
    async with Delivery(desk, record, record.turn, unnoted) as delivery:
        delivery.rests_on([], table)
        for readers in (frozenset((EVERYONE,)), HR):
            table[f"kb-{len(table)}"] = Source("kb", "T", readers=readers)
            async for event in delivery.stream(asked_):
                if isinstance(event, TextDelta):
                    delivery.voice.delta(event.text)
        assert delivery.room.text == ""
        assert delivery.private


# --- what is remembered -------------------------------------------------------------------------


def history(request: ModelRequest) -> str:
    return "\n".join(m.text for m in request.messages)


async def test_a_private_answer_is_part_of_the_askers_follow_up_alone(tmp_path: Path) -> None:
    room = Room(tmp_path, LOOK, "4.2 million [src:kb-hr].", "As I said.", "I do not know.")
    first = room.question("How large is the bonus?")
    await room.hear(first)
    sid = keys.session_id(ALICE, first.chat)
    shared = await snapshot.load(room.place.table, sid)
    assert [e.answer for e in shared.exchanges] == [NEUTRAL]
    assert "4.2" not in str(shared)

    await room.hear(room.question("And in words?", 2, root="om_1"))
    assert "4.2 million" in history(room.model.requests[-1])
    assert (room.told, room.alone) == (NEUTRAL, "As I said."), "the follow-up starts narrowed"

    await room.hear(room.question("Tell me too?", 3, who=BOB, root="om_1"))
    assert "4.2" not in history(room.model.requests[-1])
    assert "As I said" not in history(room.model.requests[-1])
    assert room.told == "I do not know."
    assert "4.2" not in room.ever_shown


async def test_a_private_answer_is_kept_sealed_for_a_day(tmp_path: Path) -> None:
    room = Room(tmp_path, LOOK, "4.2 million [src:kb-hr].", "What answer?")
    question = room.question("How large is the bonus?")
    await room.hear(question)
    key = keys.private_context(keys.session_id(ALICE, question.chat), ALICE.principal)
    item: Item | None = await room.place.table.get(key)
    assert item is not None
    assert b"4.2" not in bytes(item["box"])  # pyright: ignore[reportArgumentType]  sealed bytes
    assert item["exp"] == pytest.approx(room.place.clock.now() + 86_400, abs=5)  # pyright: ignore[reportUnknownMemberType]  pytest's own
    assert item["own_pk"] == ALICE.principal
    room.place.hands.advance(86_401 + 10)
    later = replace(room.question("And now?", 2, root="om_1"), asked_at=room.place.clock.now())
    await room.hear(later)
    assert "4.2" not in history(room.model.requests[-1])


async def own_answers(room: Room, question: Question) -> private_context.Context:
    table, clock = room.place.table, room.place.clock
    found = await table.query(keys.session(keys.session_id(ALICE, question.chat)))
    record = next(TurnRecord.from_item(i) for i in found.items if i["k"] == "turn")
    return await private_context.load(table, room.place.cipher, clock, record)


async def test_a_thread_that_is_cleared_forgets_the_askers_own_answers(tmp_path: Path) -> None:
    room = Room(tmp_path, LOOK, "4.2 million [src:kb-hr].")
    question = room.question("How large is the bonus?")
    await room.hear(question)
    assert [text for text, _, _ in (await own_answers(room, question)).values()] == [room.alone]
    await room.hear(room.question("new", 2, root="om_1"))
    assert await own_answers(room, question) == {}


async def test_a_recalled_question_takes_its_private_answer_along(tmp_path: Path) -> None:
    room = Room(tmp_path, LOOK, "4.2 million [src:kb-hr].", "As I said.")
    question = room.question("How large is the bonus?")
    turn = await room.hear(question)
    await room.hear(room.question("And in words?", 2, root="om_1"))
    assert list(await own_answers(room, question)) == ["om_1", "om_2"]
    gone = replace(question, text="", act=FORGET, about=turn, asked_at=question.asked_at + 9)
    accepted = await inbox.accept(room.place.table, room.place.clock, gone, "ev_gone", "forgetting")
    assert await drain(room.place, accepted.session)
    assert list(await own_answers(room, question)) == ["om_2"]


async def test_a_room_that_heard_a_restricted_answer_keeps_its_label(tmp_path: Path) -> None:
    room = Room(tmp_path, LOOK, "4.2 million [src:kb-hr].", "As I said.", both=True)
    await room.hear(room.question("How large is the bonus?"))
    turn = await room.hear(room.question("And in words?", 2, root="om_1"))
    stored = await answers.load(room.place.table, room.place.cipher, turn, ALICE.principal)
    assert stored is not None
    assert room.told == "As I said."
    assert stored.readers == HR, "the history that the answer rests on is restricted"


class Watched(MemoryTable):
    """A table that notes what is read and written one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.touched: list[str] = []

    async def get(self, key: Key) -> Item | None:
        self.touched.append(key.sk)
        return await super().get(key)

    async def transact(self, writes: Sequence[Write]) -> None:
        self.touched += [str(w.item["sk"]) for w in writes if isinstance(w, Put)]
        await super().transact(writes)


@pytest.mark.parametrize("kind", ["direct", "group"])
async def test_private_answers_are_looked_for_in_groups_alone(
    tmp_path: Path, kind: ChatKind
) -> None:
    room, table = Room(tmp_path, LOOK, "4.2 million [src:kb-hr].", "Yes."), Watched()
    room.place.table = table
    for n, root in ((1, ""), (2, "om_1")):
        question = room.question("How large is the bonus?", n, root=root)
        await room.hear(replace(question, chat=replace(question.chat, kind=kind)))
    own = [sk for sk in table.touched if sk.startswith(("PRIV#", "CHAT#"))]
    assert bool(own) == (kind == "group")
    assert bool(room.rooms.asked) == (kind == "group")
    assert bool(room.place.talk.alone) == (kind == "group")
