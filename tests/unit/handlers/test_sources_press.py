"""The sources button asks what the presser may read now, whatever the room once heard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.domain import EVERYONE, ChatRef, Passage
from agent.durable.records import TurnRecord
from handlers.surface import actions, replies
from handlers.worker import drain
from tests.fakes.desk import PlainPlace, asked
from tests.fakes.rooms import FixedDirectory, FixedRooms
from tests.fakes.scripted_model import ScriptedModel, call, reply
from tests.fakes.turns import ALICE

BOB = replace(ALICE, user="ou_demo_bob")
ROOM = "chat:feishu:oc_room"


@pytest.mark.parametrize(
    ("readers", "labels", "shown"),
    [
        ({"group:hr"}, {EVERYONE, "group:hr"}, True),
        ({"group:hr"}, {EVERYONE}, False),
        ({"group:hr"}, {"person:feishu:ou_demo_bob"}, False),
        ({EVERYONE}, {EVERYONE}, True),
        ({EVERYONE}, {"person:feishu:ou_demo_bob"}, False),
        ({ROOM, "person:feishu:ou_demo_alice"}, {EVERYONE}, True),
        ({"chat:feishu:oc_other", "person:feishu:ou_demo_alice"}, {EVERYONE}, False),
        ({"person:feishu:ou_demo_alice"}, {EVERYONE}, False),
    ],
)
async def test_passages_come_to_those_who_may_read_each_source_now(
    tmp_path: Path, readers: set[str], labels: set[str], shown: bool
) -> None:
    model = ScriptedModel([reply(call("search", {"query": "bonus"})), "4.2 [src:kb-1]."])
    place = PlainPlace(tmp_path, model)
    plan = Passage("kb-1", "Plan", "The pool is 4.2.", readers=frozenset(readers))
    place.library.found = {"bonus": (plan,)}
    place.known_rooms = FixedRooms((ALICE,))
    place.directory = FixedDirectory({ALICE.user: {"hr"}})
    question = asked("Bonus?", chat=ChatRef("oc_room", "group", "om_1"))
    accepted = await place.accept(question)
    assert await drain(place, accepted.session)

    pressed = replace(question, asker=BOB, act="sources", about=accepted.turn)
    record = TurnRecord(accepted.session, "press", "1", pressed, "ev", 0.0)
    desk, _ = await place.desk(record)
    told, _ = await actions.perform(replace(desk, labels=frozenset(labels)), record)
    if shown:
        assert "The pool is 4.2." in told
    else:
        assert told == replies.note("en", "hidden_sources")
