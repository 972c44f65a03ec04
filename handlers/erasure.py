"""Erases a person: all that is theirs, and their words in what belongs to others.

The index `own` says what is theirs. It misses what several people share: a thread's memory, thread
messages that came along with a colleague's question, lists of a chat's members. Turns are removed
last, since they alone say where to look; so a run that breaks off is simply done again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from agent.domain import Material
from agent.durable import keys, snapshot
from agent.durable.records import (
    CLOSED_STATES,
    TurnRecord,
    number_of,
    question_to_json,
    text_of,
)
from agent.errors import ConditionFailed
from agent.jsontext import packed
from agent.ports import Change, Clock, Exists, Item, Key, Page, Table

_ROUNDS: Final = 5
"""How often is looked for more: a turn may be under way while its person is erased."""
_TRIES: Final = 10


class Shelf(Protocol):
    """Objects whose keys begin with what they belong to."""

    async def delete_below(self, prefix: str) -> int:
        """Remove every object whose key starts so; how many there were."""
        ...


@dataclass(slots=True)
class _Person:
    """Whom it is about; `sessions` and `names` are found on the way."""

    principal: str
    user: str
    sessions: set[str] = field(default_factory=set[str])
    names: set[str] = field(default_factory=set[str])

    @property
    def org(self) -> str:
        return self.principal.split("/")[0]

    def wrote(self, material: Material) -> bool:
        return material.author == self.user or material.author in self.names


class Erasure:
    """Erases people from one organisation's stores."""

    def __init__(self, table: Table, shelf: Shelf, clock: Clock) -> None:
        self._table = table
        self._shelf = shelf
        self._clock = clock

    async def forget(self, principal: str) -> Counter[str]:
        """Erase the person with this principal; how many of each kind of thing were removed.

        Doing it again, also after it broke off, is right and finds what is left.

        Raises:
            Unavailable: a store gave no answer, or a thread is busy: do it again.
        """
        person = _Person(principal, principal.rsplit("/", 1)[1])
        removed: Counter[str] = Counter()
        for _ in range(_ROUNDS):
            own = [key async for key in self._own(principal)]
            items = [item for key in own if (item := await self._table.get(key)) is not None]
            private = [item async for item in self._partition(keys.preferences(principal).pk)]
            if not items and not private:
                break
            await self._note(person, items)
            removed += await self._shared(person)
            turns = [item for item in items if item.get("k") == "turn"]
            others = [item for item in items if item.get("k") != "turn"]
            removed += await self._delete([*others, *private])
            removed += await self._delete_turns(person, turns)
        removed += await self._rosters(person)
        removed += await self._signatures(person)
        for kind in ("turn", "img"):
            removed["object"] += await self._shelf.delete_below(f"{kind}/{principal}/")
        return +removed

    async def _note(self, person: _Person, items: Sequence[Item]) -> None:
        """Where the person asked, and under which names they are known."""
        for item in items:
            pk = text_of(item, "pk")
            if item.get("k") == "turn":
                person.names.add(TurnRecord.from_item(item).question.asker.name)
            if item.get("k") == "person":
                person.names.add(text_of(item, "name"))
            if pk.startswith(keys.session("")):
                person.sessions.add(pk.removeprefix(keys.session("")))
            if text_of(item, "session"):
                person.sessions.add(text_of(item, "session"))
        person.names.discard("")

    async def _shared(self, person: _Person) -> Counter[str]:
        removed: Counter[str] = Counter()
        for session in sorted(person.sessions):
            removed["exchange"] += await self._remembered(person, session)
            removed += await self._beside(person, session)
        return removed

    async def _remembered(self, person: _Person, session: str) -> int:
        """Take the person's exchanges out of a thread's memory.

        The memory gets a new version, so that a turn that read it before does not bring them back.
        """
        for _ in range(_TRIES):
            stored = await self._table.get(keys.snapshot(session))
            memory = await snapshot.load(self._table, session)
            kept = tuple(e for e in memory.exchanges if e.asker != person.principal)
            gone = len(memory.exchanges) - len(kept)
            if stored is None or not gone:
                return 0
            fence, now = number_of(stored, "fence"), self._clock.now()
            put = snapshot.save(replace(memory, exchanges=kept), session, person.org, fence, now)
            try:
                await self._table.put_if(put.item, put.when)
            except ConditionFailed:
                continue
            return gone
        raise ConditionFailed("a thread is being answered all the time: try again later")

    async def _beside(self, person: _Person, session: str) -> Counter[str]:
        """Take the person's words out of the turns that others had in the same thread.

        What a turn noted while it ran may repeat what stood in the thread before; once it has
        ended, nobody needs these notes. Its answer stays.
        """
        removed: Counter[str] = Counter()
        async for item in self._partition(keys.session(session), keys.TURNS):
            record = TurnRecord.from_item(item)
            if record.owner == person.principal:
                continue
            removed["quotation"] += await self._unquoted(person, record)
            if record.state in CLOSED_STATES:
                journal = self._partition(keys.journal(record.turn))
                notes = [note async for note in journal if note.get("k") in ("step", "view")]
                removed["note"] += (await self._delete(notes)).total()
        return removed

    async def _unquoted(self, person: _Person, record: TurnRecord) -> int:
        """Empty what came along with a question and is the person's; how many pieces."""
        material = record.question.material
        mine = sum(map(person.wrote, material))
        if mine:
            cleared = tuple(
                replace(m, author="", text="") if person.wrote(m) else m for m in material
            )
            question = replace(record.question, material=cleared)
            change = Change(set={"question": packed(question_to_json(question))})
            await self._table.update_if(record.key, change, (Exists(),))
        return mine

    async def _delete(self, items: Sequence[Item]) -> Counter[str]:
        removed: Counter[str] = Counter()
        for key, kind in {_key(item): text_of(item, "k") for item in items}.items():
            await self._table.delete_if(key)
            removed[kind or "item"] += 1
        return removed

    async def _delete_turns(self, person: _Person, turns: Sequence[Item]) -> Counter[str]:
        """Remove turns with what they left behind of the person's.

        That a message arrived stays noted, without words, so that no late delivery brings it back.
        """
        removed: Counter[str] = Counter()
        for item in turns:
            record = TurnRecord.from_item(item)
            left = [
                part
                async for part in self._partition(keys.journal(record.turn))
                if part.get("own_pk") == person.principal
            ]
            removed += await self._delete(left)
            await self._table.delete_if(record.marker)
            removed += await self._delete([item])
        return removed

    async def _rosters(self, person: _Person) -> Counter[str]:
        """Remove the lists of members with this person; they are fetched anew when needed."""
        _, platform, app, tenant, user = person.principal.split("/", 4)
        pk = keys.chat_members(person.org, f"{platform}:{app}:{tenant}", "-").pk
        lists = [
            item async for item in self._partition(pk, "CHAT#") if user in text_of(item, "people")
        ]
        return await self._delete(lists)

    async def _signatures(self, person: _Person) -> Counter[str]:
        """Let what the person ordered (a pause, listening) hold without their name on it."""
        count = 0
        async for item in self._partition(keys.organisation(person.org).pk):
            if item.get("by") == person.principal:
                await self._table.update_if(_key(item), Change(set={"by": ""}), (Exists(),))
                count += 1
        return Counter({"signature": count})

    async def _own(self, principal: str) -> AsyncIterator[Key]:
        after: Key | None = None
        while True:
            found = await self._table.query_index("own", principal, after=after)
            for key in found:
                yield key
            if not found:
                return
            after = found[-1]

    async def _partition(self, pk: str, prefix: str = "") -> AsyncIterator[Item]:
        page = Page(())
        while True:
            page = await self._table.query(pk, prefix, after=page.after)
            for item in page.items:
                yield item
            if page.after is None:
                return


def _key(item: Item) -> Key:
    return Key(text_of(item, "pk"), text_of(item, "sk"))
