"""Members are kept for ten minutes; a list that could not be read is not kept and covers nobody."""

from __future__ import annotations

from agent.domain import ChatRef, Identity
from agent.errors import Unavailable
from agent.stores.memory_table import MemoryTable
from connectors.rooms import KEPT, PlatformRooms, Roster
from tests.fakes.clock import FakeClock
from tests.fakes.turns import ALICE

CHAT = ChatRef("oc_room", "group", "om_1")
PEOPLE = (("ou_a", "tenant_demo", False), ("ou_b", "tenant_other", True))


class Asked:
    """A platform that counts how often it was asked."""

    def __init__(self, roster: Roster | None) -> None:
        self.roster = roster
        self.times = 0
        self.clock, self.table = FakeClock(), MemoryTable()
        self.rooms = PlatformRooms(self.table, self.clock, self.fetch)

    async def fetch(self, chat: ChatRef, asker: Identity) -> Roster:
        self.times += 1
        if self.roster is None:
            raise Unavailable("down")
        return self.roster


async def test_people_keep_who_they_are() -> None:
    room = Asked(Roster(PEOPLE, outsiders=True))
    for _ in range(2):  # fetched, then read back
        found = await room.rooms.members(CHAT, ALICE)
        assert found is not None
        assert [(p.user, p.tenant, p.external) for p in found] == list(PEOPLE)
        assert {(p.org, p.platform, p.app) for p in found} == {(ALICE.org, "feishu", ALICE.app)}
        assert await room.rooms.outsiders(CHAT, ALICE)
    assert room.times == 1


async def test_a_list_counts_for_ten_minutes_in_every_process() -> None:
    room = Asked(Roster(None, outsiders=False))
    assert not await room.rooms.outsiders(CHAT, ALICE)
    other = PlatformRooms(room.table, room.clock, room.fetch)
    room.clock.advance(KEPT - 1)
    assert await other.members(CHAT, ALICE) is None
    assert room.times == 1
    room.clock.advance(2)
    await other.members(CHAT, ALICE)
    assert room.times == 2


async def test_chats_and_workspaces_do_not_share_a_list() -> None:
    room = Asked(Roster(PEOPLE, outsiders=False))
    other = ChatRef("oc_other", "group", "om_1")
    stranger = Identity("hengxing", "feishu", ALICE.app, "tenant_other", "ou_x")
    for chat, asker in ((CHAT, ALICE), (other, ALICE), (CHAT, stranger)):
        await room.rooms.members(chat, asker)
    assert room.times == 3


async def test_what_can_not_be_read_counts_as_outsiders_and_is_asked_again() -> None:
    room = Asked(None)
    assert await room.rooms.members(CHAT, ALICE) is None
    assert await room.rooms.outsiders(CHAT, ALICE)
    room.roster = Roster(PEOPLE[:1], outsiders=False)
    assert not await room.rooms.outsiders(CHAT, ALICE)
