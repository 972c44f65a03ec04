"""The law of a room, over whole turns: no word ever shows there that a member might not read.

Judged piece by piece of evidence, without labels: a word of a step rests on every passage that was
shown before the step's request was made.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent import phrases
from agent.dialogue import ModelEvent, ModelRequest, ToolCall
from agent.domain import EVERYONE, ChatRef, Identity, Passage
from handlers.worker import drain
from tests.fakes.desk import PlainPlace, asked
from tests.fakes.rooms import FixedDirectory, FixedRooms
from tests.fakes.scripted_model import ScriptedModel, call, reply
from tests.fakes.turns import ALICE

ROOM = "chat:feishu:oc_room"
MINE = f"person:feishu:{ALICE.user}"
GROUPS: tuple[str, ...] = ("hr", "finance", "legal")
READERS = st.one_of(
    st.just(frozenset((EVERYONE,))),
    st.frozensets(st.sampled_from([*(f"group:{g}" for g in GROUPS), MINE, ROOM]), min_size=1),
)
OTHERS = st.lists(st.frozensets(st.sampled_from(GROUPS)), min_size=1, max_size=3)


STEPS = st.lists(st.lists(READERS, max_size=3), max_size=3)


class Slow(ScriptedModel):
    """A model whose words come slowly enough to be shown one by one."""

    place: PlainPlace

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        async for event in super().stream(request):
            yield event
            await self.place.hands.sleep(2.0)


def look(n: int) -> ToolCall:
    return call("search", {"query": f"q{n}"}, id=f"c{n}")


async def turn(
    folder: Path, steps: Sequence[Sequence[frozenset[str]]], others: Sequence[frozenset[str]]
) -> tuple[PlainPlace, tuple[Identity, ...]]:
    """A turn of Alice, who is in all groups: word n, then call n, and at the end the last word."""
    script = [reply(f"word{n} ", look(n)) for n in range(len(steps))]
    model = Slow([*script, f"word{len(steps)} "])
    place = model.place = PlainPlace(folder, model)
    place.library.found = {
        f"q{n}": tuple(
            Passage(f"s{n}-{i}", "T", f"text {n} {i}", readers=readers)
            for i, readers in enumerate(found)
        )
        for n, found in enumerate(steps)
    }
    people = (ALICE, *(replace(ALICE, user=f"ou_{n}") for n in range(len(others))))
    place.known_rooms = FixedRooms(people)
    groups = {ALICE.user: set(GROUPS)} | {f"ou_{n}": set(g) for n, g in enumerate(others)}
    place.directory = FixedDirectory(groups)
    question = asked("What is it?", chat=ChatRef("oc_room", "group", "om_1"))
    assert await drain(place, (await place.accept(question)).session)
    return place, people


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS, OTHERS)
async def test_no_word_shows_in_a_room_that_a_member_may_not_read(
    steps: list[list[frozenset[str]]], others: list[frozenset[str]]
) -> None:
    with TemporaryDirectory() as folder:
        place, people = await turn(Path(folder), steps, others)
        carried = [await place.directory.labels(person) for person in people]

    def readable(n: int) -> bool:
        evidence = [readers for found in steps[:n] for readers in found]
        return all(readers & {*labels, ROOM} for readers in evidence for labels in carried)

    frames = [*place.talk.shown, *place.talk.done]
    for n in range(len(steps) + 1):
        if any(f"word{n} " in f.text for f in frames):
            assert readable(n)
    last = len(steps)
    [final] = place.talk.done
    told = "" if not place.talk.alone else place.talk.alone[-1].text
    here, alone = f"word{last} " in final.text, f"word{last} " in told
    assert here != alone, "the answer stands in one place"
    assert here or final.text == phrases.kept_private("en")
    if all(EVERYONE in readers for found in steps for readers in found):
        assert here, "what is for everybody is never hidden"
