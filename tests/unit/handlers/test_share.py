"""Sharing at the worker's side: whose press it is, rights that were lost, and a second attempt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.desk import Desk
from agent.domain import ChatRef, Identity, Passage, Question
from agent.durable import answers, keys, snapshot
from agent.durable.records import TurnRecord
from agent.errors import Unavailable
from agent.ports import Control
from handlers.surface import share
from handlers.worker import drain
from tests.fakes.desk import PlainPlace, asked
from tests.fakes.rooms import FixedDirectory, FixedRooms
from tests.fakes.scripted_model import ScriptedModel, call, reply
from tests.fakes.turns import ALICE

BOB = replace(ALICE, user="ou_demo_bob")
HR = frozenset(("group:hr",))


class Shared:
    """Alice's private answer in a room with Bob, and presses about it."""

    def __init__(self, folder: Path, readers: frozenset[str] = HR, text: str = "4.2 [src:kb-hr]."):
        model = ScriptedModel([reply(call("search", {"query": "bonus"})), text])
        self.place = PlainPlace(folder, model)
        plan = Passage("kb-hr", "Bonus  plan", "4.2", readers=readers)
        self.place.library.found = {"bonus": (plan,)}
        self.place.known_rooms = FixedRooms((ALICE, BOB))
        self.place.directory = FixedDirectory({ALICE.user: {"hr"}})
        self.question = asked("Bonus?", chat=ChatRef("oc_room", "group", "om_1"))

    async def answered(self) -> None:
        accepted = await self.place.accept(self.question)
        assert await drain(self.place, accepted.session)
        self.turn, self.session = accepted.turn, accepted.session
        self.before = len(self.place.talk.done)
        self.attempt = 0

    async def press(
        self,
        act: str,
        who: Identity = ALICE,
        labels: frozenset[str] = frozenset((*HR, "person:feishu:ou_demo_alice")),
    ) -> str:
        """What the presser is told."""
        question: Question = replace(self.question, asker=who, act=act, about=self.turn)
        self.attempt += 1
        record = TurnRecord(
            self.session, f"press{act}", "1", question, "ev", 0.0, fence=9, attempt=self.attempt
        )
        desk, _ = await self.place.desk(record)
        words, memory = await share.perform(self.labelled(desk, labels), record)
        self.memory = memory
        assert self.place.talk.whispered[-1][0] == words
        return words

    def labelled(self, desk: Desk, labels: frozenset[str]) -> Desk:
        return replace(desk, labels=labels)

    @property
    def posted(self) -> list[str]:
        """What was posted in the room since the neutral line."""
        return [f.text for f in self.place.talk.done[self.before :]]

    @property
    def controls(self) -> tuple[Control, ...]:
        return self.place.talk.whispered[-1][1]


async def test_the_first_press_lists_titles_and_offers_to_confirm(tmp_path: Path) -> None:
    case = Shared(tmp_path)
    await case.answered()
    assert "🔒 Bonus plan" in await case.press(share.SHARE)
    assert [c.action for c in case.controls] == [share.CONFIRM]
    assert case.posted == []


async def test_an_answer_without_citations_says_that_more_was_read(tmp_path: Path) -> None:
    case = Shared(tmp_path, text="A nice sum.")
    await case.answered()
    assert "restricted sources were read" in await case.press(share.SHARE)


async def test_only_the_askers_own_press_posts(tmp_path: Path) -> None:
    case = Shared(tmp_path)
    await case.answered()
    assert await case.press(share.CONFIRM, BOB) == share.note("en", "gone")
    assert case.posted == []


async def test_rights_that_were_lost_since_forbid_it_and_free_the_claim(tmp_path: Path) -> None:
    case = Shared(tmp_path)
    await case.answered()
    claim = keys.claim(case.turn, share.SHARE)
    await case.place.table.put({"pk": claim.pk, "sk": claim.sk, "by": "pressshare-yes"})
    lost = frozenset(("person:feishu:ou_demo_alice",))
    assert await case.press(share.CONFIRM, labels=lost) == share.note("en", "no_rights")
    assert case.posted == []
    assert await case.place.table.get(claim) is None


async def test_a_message_of_the_room_itself_is_nobodys_lost_right(tmp_path: Path) -> None:
    case = Shared(tmp_path, frozenset(("chat:feishu:oc_room", "person:feishu:ou_demo_alice")))
    case.place.known_rooms = FixedRooms(outside=True)
    await case.answered()
    case.place.known_rooms = FixedRooms((ALICE, BOB))
    assert await case.press(share.CONFIRM, labels=frozenset()) == share.note("en", "shared")


async def test_a_post_that_failed_is_tried_again_and_recorded_once(tmp_path: Path) -> None:
    case = Shared(tmp_path)
    await case.answered()
    case.place.talk.faults.append(Unavailable("down"))
    with pytest.raises(Unavailable):
        await case.press(share.CONFIRM)
    record = keys.claim(case.turn, share.SHARED)
    assert await case.place.table.get(record) is None
    times: list[object] = []
    for _ in range(2):
        assert await case.press(share.CONFIRM) == share.note("en", "shared")
        times.append((await case.place.table.get(record) or {})["at"])
        case.place.hands.advance(5)
    assert times[0] == times[1]
    assert case.posted == ["4.2 [src:kb-hr]."]
    item = await case.place.table.get(record)
    assert item is not None
    assert (item["who"], item["chat"], item["sources"]) == (ALICE.principal, "oc_room", ["kb-hr"])
    assert case.memory is not None
    [exchange] = case.memory.exchanges
    assert exchange.answer == "4.2 [src:kb-hr]."
    assert exchange.readers == {"chat:feishu:oc_room"}
    assert (
        exchange.question
        == (await snapshot.load(case.place.table, case.session)).exchanges[0].question
    )


async def test_an_answer_that_is_gone_says_so(tmp_path: Path) -> None:
    case = Shared(tmp_path)
    await case.answered()
    await case.place.table.delete_if(keys.answer(case.turn))
    assert await answers.question_of(case.place.table, case.turn) is None
    assert await case.press(share.SHARE) == share.note("en", "gone")
