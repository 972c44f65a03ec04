"""Labels: who is a member, a guest, a stranger or gone; what is asked, kept, and dropped."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from agent.domain import EVERYONE, Identity, Platform
from agent.stores.memory_table import MemoryTable
from connectors.directory import LOOKED_UP_AGAIN, OrganisationDirectory, People
from connectors.feishu.directory import FeishuPeople
from connectors.slack.directory import GROUPS_KEPT, SlackPeople
from handlers.configuration import Configuration
from tests.fakes.address_book import AddressBook
from tests.fakes.clock import FakeClock

ALICE = Identity("demo", "slack", "A1", "T1", "U1")
ANNA = Identity("demo", "feishu", "cli_x", "tenant_1", "ou_1")
OWN, ANNAS_OWN = "person:slack:U1", "person:feishu:ou_1"
RULES = Configuration(
    tenants=("slack:T1", "feishu:tenant_1"),
    groups={
        "hr": ("slack:U1", "feishu:ou_1"),
        "sales": ("slack:usergroup:S1", "feishu:user-group:g1"),
        "engineering": ("feishu:department:od-company",),
    },
    admins=("slack:U1", "feishu:ou_1"),
)
DAY = 86_400


@dataclass
class House:
    """A directory over two address books, one member in each."""

    rules: Configuration = RULES
    book: AddressBook = field(
        default_factory=lambda: AddressBook(
            slack={"U1": {"id": "U1", "real_name": "Alice"}},
            feishu={"ou_1": {"name": "Anna", "department_ids": ["od-team"], "status": {}}},
        )
    )
    table: MemoryTable = field(default_factory=MemoryTable)
    clock: FakeClock = field(default_factory=FakeClock)
    slack: SlackPeople | None = None

    @property
    def directory(self) -> OrganisationDirectory:
        return OrganisationDirectory(self.table, self.clock, "demo", self.rules, self.people)

    def people(self, platform: Platform) -> People:
        wanted = self.rules.platform_groups(platform)
        if platform == "feishu":
            return FeishuPeople(self.book.feishu_api(self.clock), wanted)
        if self.slack is None:
            self.slack = SlackPeople(self.book.slack_api(self.clock), self.clock, wanted)
        return self.slack

    async def labels(self, person: Identity) -> frozenset[str]:
        return await self.directory.labels(person)


@pytest.fixture
def house() -> House:
    return House()


async def test_a_member_carries_everyone_and_the_groups_of_the_file(house: House) -> None:
    assert await house.labels(ALICE) == {OWN, EVERYONE, "group:hr"}
    assert await house.labels(ANNA) == {ANNAS_OWN, EVERYONE, "group:hr"}


async def test_groups_of_the_platform_count_by_their_name_in_the_file(house: House) -> None:
    house.book.usergroups = {"S1": ["U1"], "S2": ["U1"]}
    house.book.user_groups = {"g1": ["ou_1"], "g2": ["ou_2"]}
    house.book.parents = {"od-team": ["od-division", "od-company"]}
    assert await house.labels(ALICE) == {OWN, EVERYONE, "group:hr", "group:sales"}
    expected = {ANNAS_OWN, EVERYONE, "group:hr", "group:sales", "group:engineering"}
    assert await house.labels(ANNA) == expected


async def test_what_no_group_names_is_not_asked_for(house: House) -> None:
    house.rules = RULES.model_copy(update={"groups": {"hr": ("slack:U1",)}})
    await house.labels(ALICE)
    await house.labels(ANNA)
    assert house.book.calls == ["users.info", "users/ou_1"]


@pytest.mark.parametrize("sign", ["is_restricted", "is_ultra_restricted"])
async def test_a_guest_carries_neither_everyone_nor_groups(house: House, sign: str) -> None:
    house.book.slack["U1"][sign] = True
    house.book.usergroups = {"S1": ["U1"]}
    assert await house.labels(ALICE) == {OWN}


@pytest.mark.parametrize(
    ("platform", "change"),
    [
        ("slack", {"deleted": True}),
        ("slack", {"is_stranger": True}),
        ("feishu", {"status": {"is_resigned": True}}),
        ("feishu", {"status": {"is_exited": True}}),
        ("feishu", {"status": {"is_frozen": True}}),
    ],
)
async def test_who_has_left_or_is_of_elsewhere_carries_nothing(
    house: House, platform: Platform, change: dict[str, object]
) -> None:
    book, person = (
        (house.book.slack["U1"], ALICE)
        if platform == "slack"
        else (house.book.feishu["ou_1"], ANNA)
    )
    book.update(change)
    assert await house.labels(person) == frozenset()


async def test_whom_the_platform_does_not_know_carries_nothing(house: House) -> None:
    assert await house.labels(replace(ALICE, user="U9")) == frozenset()
    assert await house.labels(replace(ANNA, user="ou_9")) == frozenset()


@pytest.mark.parametrize("person", [ALICE, ANNA], ids=["slack", "feishu"])
async def test_a_person_of_another_tenant_never_carries_a_colleagues_name(
    house: House, person: Identity
) -> None:
    """The same user id under another tenant is another person; so is whoever is external."""
    for stranger in (replace(person, tenant="other"), replace(person, external=True)):
        assert await house.labels(stranger) == frozenset()
        assert house.rules.groups_of(stranger) == frozenset()
        assert not house.rules.is_admin(stranger)
    assert house.rules.is_admin(person)
    assert house.book.calls == [], "no platform is asked about strangers"


async def test_without_a_named_tenant_the_event_decides(house: House) -> None:
    house.rules = RULES.model_copy(update={"tenants": ()})
    assert EVERYONE in await house.labels(replace(ALICE, tenant="T7"))
    assert await house.labels(replace(ALICE, tenant="T7", external=True)) == frozenset()
    both = house.rules.with_tenants("", "T1")
    assert (both.owns(ALICE), both.owns(replace(ALICE, tenant="T7"))) == (True, False)
    assert both.owns(ANNA), "no Feishu tenant is named"


async def test_a_platform_is_asked_once_a_day(house: House) -> None:
    for _ in range(3):
        await house.labels(ALICE)
    assert house.book.calls.count("users.info") == 1
    house.book.slack["U1"]["deleted"] = True
    assert OWN in await house.labels(ALICE)
    house.clock.advance(LOOKED_UP_AGAIN + 1)
    assert await house.labels(ALICE) == frozenset()


async def test_the_answer_of_yesterday_holds_through_an_outage_and_no_longer(house: House) -> None:
    house.book.usergroups = {"S1": ["U1"]}
    before = await house.labels(ALICE)
    house.book.down = True
    house.clock.advance(1.5 * DAY)
    assert await house.labels(ALICE) == before
    house.clock.advance(0.6 * DAY)
    assert await house.labels(ALICE) == {OWN}


async def test_without_any_answer_slack_might_have_a_guest_and_feishu_has_a_member(
    house: House,
) -> None:
    house.book.down = True
    assert await house.labels(ALICE) == {OWN}
    assert await house.labels(ANNA) == {ANNAS_OWN, EVERYONE, "group:hr"}
    house.book.down = False
    assert EVERYONE in await house.labels(ALICE), "an outage is not remembered"


async def test_a_missing_scope_leaves_out_what_it_would_tell(house: House) -> None:
    house.book.usergroups = {"S1": ["U1"]}
    house.book.parents = {"od-team": ["od-company"]}
    house.book.refused = {"usergroups.list": "missing_scope", "departments/parent": 99991672}
    assert await house.labels(ALICE) == {OWN, EVERYONE, "group:hr"}
    assert await house.labels(ANNA) == {ANNAS_OWN, EVERYONE, "group:hr"}
    house.book.refused = {}
    house.clock.advance(601)
    assert "group:sales" in await house.labels(ALICE)
    assert "group:engineering" in await house.labels(ANNA)


async def test_a_refusal_is_not_asked_for_again_with_every_turn(house: House) -> None:
    house.book.refused = {"users.info": "missing_scope", "users/ou_1": 41050}
    for _ in range(3):
        assert await house.labels(ALICE) == {OWN}
        assert EVERYONE in await house.labels(ANNA)
    assert sorted(house.book.calls) == ["users.info", "users/ou_1"]


async def test_dropping_the_cache_takes_a_right_away_at_once(house: House) -> None:
    house.book.usergroups = {"S1": ["U1"]}
    assert "group:sales" in await house.labels(ALICE)
    house.book.usergroups = {"S1": []}
    assert "group:sales" in await house.labels(ALICE)
    await house.directory.drop()
    assert await house.directory.known() == ()
    house.clock.advance(GROUPS_KEPT)
    assert "group:sales" not in await house.labels(ALICE)


async def test_one_answer_about_groups_serves_all_who_are_looked_up_then(house: House) -> None:
    """Slack takes 20 of these calls a minute; a whole team may come to work at once."""
    house.book.slack |= {f"U{n}": {"id": f"U{n}"} for n in range(2, 60)}
    house.book.usergroups = {"S1": [f"U{n}" for n in range(60)]}
    for n in range(1, 60):
        assert "group:sales" in await house.labels(replace(ALICE, user=f"U{n}"))
    assert house.book.calls.count("usergroups.list") == 1


async def test_who_is_known_can_be_listed_and_belongs_to_themselves(house: House) -> None:
    await house.labels(ALICE)
    await house.labels(ANNA)
    known = {who.principal: (who.name, s.kind) for who, s in await house.directory.known()}
    assert known == {ALICE.principal: ("Alice", "member"), ANNA.principal: ("Anna", "member")}
    for person in (ALICE, ANNA):
        assert len(await house.table.query_index("own", person.principal)) == 1
