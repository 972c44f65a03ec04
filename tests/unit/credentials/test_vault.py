"""The vault: one refresh whoever asks, no token in plain sight, no loop after a lost answer."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.domain import Identity
from agent.durable import keys
from agent.errors import Misconfigured, RateLimited, Unavailable
from agent.ports import Change
from agent.stores.local_key_cipher import LocalKeyCipher
from agent.stores.memory_table import MemoryTable
from agent.stores.sqlite_table import SqliteTable
from agent.stores.system_clock import RandomIds, SystemClock
from connectors import holdings
from connectors.access import SignInNeeded
from connectors.credentials import LEASE, MARGIN, PersonalAccess, Vault
from connectors.holdings import Grant
from tests.fakes.clock import CountingIds, FakeClock
from tests.fakes.faulty_table import Fault, FaultyTable
from tests.fakes.issuer import LIFE, OnceIssuer
from tests.fakes.turns import ALICE

ASKED = frozenset(("read", "offline_access", "minutes"))


class Bench:
    """A vault with a clock that is turned by hand and Alice's connection in it."""

    def __init__(self, folder: Path, table: MemoryTable | None = None) -> None:
        self.clock = FakeClock()
        self.table = table or MemoryTable()
        self.cipher = LocalKeyCipher(folder / "key")
        self.vault = Vault(self.table, self.cipher, self.clock, RandomIds())
        self.issuer = OnceIssuer(self.clock)

    async def connect(self) -> Grant:
        grant = self.issuer.first()
        await self.vault.keep(ALICE, grant, ASKED)
        return grant

    def access(self) -> PersonalAccess:
        return PersonalAccess(ALICE, self.vault, self.issuer)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_a_token_is_handed_out_as_long_as_it_holds(bench: Bench) -> None:
    grant = await bench.connect()
    bench.clock.advance(LIFE / 2)
    assert await bench.access().token() == grant.access
    assert await bench.access().scopes() == grant.scopes
    assert bench.issuer.refreshes == 0


async def test_without_a_connection_a_sign_in_is_needed(bench: Bench) -> None:
    with pytest.raises(SignInNeeded):
        await bench.access().token()
    assert await bench.access().scopes() == frozenset()


async def test_c_fs_11_an_open_id_of_another_app_has_no_token(bench: Bench) -> None:
    grant = await bench.connect()
    for other in (
        replace(ALICE, app="another-app"),
        replace(ALICE, tenant="another-tenant"),
        replace(ALICE, user=f"{ALICE.user}2"),
    ):
        with pytest.raises(SignInNeeded):
            await PersonalAccess(other, bench.vault, bench.issuer).token()
        assert await bench.vault.forget(other) is None
    assert await bench.access().token() == grant.access


async def test_a_token_near_its_end_is_renewed_and_the_new_one_stored(bench: Bench) -> None:
    old = await bench.connect()
    bench.clock.advance(LIFE - 30)
    new = await bench.access().token()
    assert new != old.access
    assert await bench.access().token() == new
    assert bench.issuer.refreshes == 1


async def test_people_renew_at_different_moments(bench: Bench) -> None:
    moments: set[float] = set()
    for n in range(20):
        person = replace(ALICE, user=f"ou_{n}")
        await bench.vault.keep(person, bench.issuer.first(), ASKED)
        held = await bench.vault.held(person)
        assert held is not None
        assert LIFE - 600 <= held.renew_at - bench.clock.now() <= LIFE - 300
        moments.add(round(held.renew_at))
    assert len(moments) > 10


@pytest.mark.parametrize("store", ["memory", "sqlite"])
@pytest.mark.parametrize("refused", [True, False])
async def test_twenty_callers_make_one_refresh_and_none_fails(
    store: str, refused: bool, tmp_path: Path
) -> None:
    """SECURITY.md M8 and R11: a one-time refresh token and a provider that notices reuse."""
    clock = FakeClock() if store == "memory" else SystemClock()
    table = MemoryTable() if store == "memory" else SqliteTable(tmp_path / "table.sqlite")
    cipher, issuer = LocalKeyCipher(tmp_path / "key"), OnceIssuer(clock)
    issuer.pause = 0.0 if store == "memory" else 0.05
    vault = Vault(table, cipher, clock, RandomIds())
    rounds = 200 if store == "memory" and refused else 5
    for n in range(rounds):
        person, before = replace(ALICE, user=f"ou_{n}"), issuer.refreshes
        grant = issuer.first()
        grant = grant if refused else replace(grant, ends=clock.now() + 1)
        await vault.keep(person, grant, ASKED)
        access = PersonalAccess(person, vault, issuer)
        async with asyncio.TaskGroup() as group:
            calls = [
                group.create_task(access.renewed(grant.access) if refused else access.token())
                for _ in range(20)
            ]
        assert len({call.result() for call in calls}) == 1
        assert issuer.refreshes - before == 1
    assert issuer.revoked_families == 0
    if isinstance(table, SqliteTable):
        await table.aclose()


WORKER = """
import asyncio, sys
from pathlib import Path
from tests.unit.credentials.test_vault import other_process
asyncio.run(other_process(Path(sys.argv[1])))
"""


class FileIssuer(OnceIssuer):
    """Refreshes are counted in a file that several processes share."""

    folder: Path = Path()

    async def refresh(self, grant: Grant) -> Grant:
        with (self.folder / "refreshes").open("a") as file:
            file.write(f"{grant.refresh}\n")
        await asyncio.sleep(0.1)
        now = self.clock.now()
        return Grant("access-2", grant.scopes, now + LIFE, "refresh-2", now + 86_400)


def _file_issuer(folder: Path) -> FileIssuer:
    issuer = FileIssuer(SystemClock())
    issuer.folder = folder
    return issuer


async def other_process(folder: Path) -> None:
    """Ten callers of another process on the same table."""
    table = SqliteTable(folder / "table.sqlite")
    vault = Vault(table, LocalKeyCipher(folder / "key"), SystemClock(), RandomIds())
    access = PersonalAccess(ALICE, vault, _file_issuer(folder))
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(access.renewed("access-1")) for _ in range(10)]
    sys.stdout.write(" ".join({call.result() for call in calls}))
    await table.aclose()


async def test_two_processes_make_one_refresh_between_them(tmp_path: Path) -> None:
    table = SqliteTable(tmp_path / "table.sqlite")
    vault = Vault(table, LocalKeyCipher(tmp_path / "key"), SystemClock(), RandomIds())
    await vault.keep(ALICE, OnceIssuer(SystemClock()).first(), ASKED)
    root = Path(__file__).parents[3]
    workers = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            WORKER,
            str(tmp_path),
            cwd=root,
            stdout=asyncio.subprocess.PIPE,
        )
        for _ in range(2)
    ]
    said = [(await worker.communicate())[0].decode().split() for worker in workers]
    assert said == [["access-2"], ["access-2"]]
    assert (tmp_path / "refreshes").read_text().split() == ["refresh-1"]
    await table.aclose()


async def test_a_lost_answer_means_one_sign_in_and_no_loop(bench: Bench) -> None:
    await bench.connect()
    bench.clock.advance(LIFE)
    bench.issuer.faults = [bench.issuer.lost]
    with pytest.raises(SignInNeeded):
        await bench.access().token()
    assert bench.issuer.refreshes == 2
    for _ in range(3):
        with pytest.raises(SignInNeeded):
            await bench.access().token()
    assert bench.issuer.refreshes == 2
    assert await holdings.consent(bench.table, ALICE) is not None
    fresh = await bench.connect()
    assert await bench.access().token() == fresh.access


async def test_a_request_that_never_arrived_is_made_good_by_the_second_try(bench: Bench) -> None:
    await bench.connect()
    bench.clock.advance(LIFE)
    bench.issuer.faults = [Unavailable("no connection")]
    assert await bench.access().token() == "access-2"


async def test_a_platform_that_is_away_costs_nobody_the_connection(bench: Bench) -> None:
    await bench.connect()
    bench.clock.advance(LIFE)
    bench.issuer.faults = [Unavailable("away"), Unavailable("away")]
    with pytest.raises(Unavailable):
        await bench.access().token()
    bench.issuer.faults = [RateLimited("slow down", 3.0)]
    with pytest.raises(RateLimited):
        await bench.access().token()
    assert await bench.access().token() == "access-2"


async def test_an_early_renewal_that_fails_leaves_the_good_token(bench: Bench) -> None:
    grant = await bench.connect()
    bench.clock.advance(LIFE - 200)
    bench.issuer.faults = [Unavailable("away"), Unavailable("away")]
    assert await bench.access().token() == grant.access
    assert await bench.access().token() == "access-2"


async def test_our_own_wrong_secret_costs_nobody_the_connection(bench: Bench) -> None:
    await bench.connect()
    bench.clock.advance(LIFE)
    bench.issuer.faults = [Misconfigured("secret")]
    with pytest.raises(Misconfigured):
        await bench.access().token()
    assert await bench.access().token() == "access-2"


async def test_a_dead_workers_lease_runs_out(bench: Bench) -> None:
    await bench.connect()
    bench.clock.advance(LIFE)
    await bench.table.update_if(
        holdings.key_of(ALICE),
        Change(set={"lease": "dead", "lease_until": bench.clock.now() + LEASE}),
    )
    with pytest.raises(Unavailable):
        await bench.access().token()
    assert bench.issuer.refreshes == 0
    bench.clock.advance(LEASE + MARGIN)
    assert await bench.access().token() == "access-2"


async def test_a_caller_whose_time_runs_out_does_not_lose_the_new_pair(bench: Bench) -> None:
    await bench.connect()
    bench.clock.advance(LIFE)
    bench.issuer.pause = 0.05
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await bench.access().token()
    assert await bench.access().token() == "access-2"
    assert bench.issuer.refreshes == 1


@dataclass(slots=True)
class SpoilingIssuer(OnceIssuer):
    """Spoils the first write to the table after a refresh."""

    table: FaultyTable = field(default_factory=FaultyTable)
    spoil: Fault = "lost answer"

    async def refresh(self, grant: Grant) -> Grant:
        fresh = await OnceIssuer.refresh(self, grant)
        self.table.fault = self.spoil
        return fresh


FAULTS: tuple[Fault, ...] = ("lost request", "lost answer", "repeated")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("strikes", ["lease", "store"])
async def test_a_write_without_an_answer_is_looked_up(
    fault: Fault, strikes: str, tmp_path: Path
) -> None:
    table = FaultyTable()
    bench = Bench(tmp_path, table)
    if strikes == "store":
        bench.issuer = SpoilingIssuer(bench.clock, table=table, spoil=fault)
    await bench.connect()
    bench.clock.advance(LIFE)
    if strikes == "lease":
        table.fault = fault
    assert await bench.access().token() == "access-2"
    assert bench.issuer.refreshes == 1


async def test_signing_out_during_a_refresh_stays_signed_out(bench: Bench) -> None:
    await bench.connect()
    bench.clock.advance(LIFE)
    bench.issuer.pause = 0.05
    async with asyncio.TaskGroup() as group:
        call = group.create_task(_refused(bench))
        await asyncio.sleep(0.01)
        await bench.vault.forget(ALICE)
    assert call.result()
    assert await bench.table.get(holdings.key_of(ALICE)) is None
    assert bench.issuer.revoked == ["access-2"]


async def _refused(bench: Bench) -> bool:
    with pytest.raises(SignInNeeded):
        await bench.access().token()
    return True


async def test_a_sign_in_during_a_refused_refresh_counts(bench: Bench) -> None:
    await bench.connect()
    bench.clock.advance(LIFE)
    bench.issuer.faults = [SignInNeeded("revoked")]
    bench.issuer.pause = 0.05
    async with asyncio.TaskGroup() as group:
        call = group.create_task(bench.access().token())
        await asyncio.sleep(0.01)
        fresh = await bench.connect()
    assert call.result() == fresh.access


async def test_a_token_that_never_ends_is_not_renewed_but_dropped_when_refused(
    bench: Bench,
) -> None:
    await bench.vault.keep(ALICE, Grant("for-ever", frozenset(("read",))), ASKED)
    bench.clock.advance(400 * 86_400)
    assert await bench.access().token() == "for-ever"
    with pytest.raises(SignInNeeded):
        await bench.access().renewed("for-ever")
    assert await bench.table.get(holdings.key_of(ALICE)) is None


async def test_everything_of_a_person_is_found_by_owner_and_forgotten(bench: Bench) -> None:
    grant = await bench.connect()
    found = await bench.table.query_index("own", ALICE.principal)
    assert {key.sk for key in found} == {"TOK#search", "CON#feishu", f"U#{ALICE.user}"}
    consent = await holdings.consent(bench.table, ALICE)
    assert consent is not None
    assert consent.asked - consent.granted == {"minutes"}
    assert await bench.vault.forget(ALICE) == grant
    assert await bench.table.query_index("own", ALICE.principal) == ()


async def test_an_uninstalled_workspace_forgets_all_its_people(bench: Bench) -> None:
    people = [replace(ALICE, user=f"ou_{n}") for n in range(120)]
    for person in people:
        await bench.vault.keep(person, bench.issuer.first(), ASKED)
    other = replace(ALICE, tenant="tenant_other")
    await bench.vault.keep(other, bench.issuer.first(), ASKED)
    gone = await holdings.forget_workspace(
        bench.table, ALICE.org, "feishu", ALICE.app, ALICE.tenant
    )
    assert gone == 120
    assert await bench.vault.held(people[7]) is None
    assert await bench.vault.held(other) is not None


async def test_no_store_file_holds_a_token(tmp_path: Path) -> None:
    """SECURITY.md S11."""
    table = SqliteTable(tmp_path / "table.sqlite")
    clock = FakeClock()
    vault = Vault(table, LocalKeyCipher(tmp_path / "key"), clock, RandomIds())
    grant = Grant("u-CANARY-access", frozenset(("read",)), clock.now() + 60, "ur-CANARY-refresh")
    await vault.keep(ALICE, grant, ASKED)
    held = await vault.held(ALICE)
    assert held is not None
    assert held.grant == grant
    assert "CANARY" not in repr(held)
    await table.aclose()
    assert not _files_with(tmp_path, b"CANARY")
    assert _files_with(tmp_path, ALICE.user.encode())


def _files_with(folder: Path, word: bytes) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if word in path.read_bytes()]


@pytest.mark.parametrize("part", ["org", "app", "tenant", "user"])
async def test_a_token_moved_to_another_owner_does_not_open(bench: Bench, part: str) -> None:
    """SECURITY.md S11."""
    await bench.connect()
    item = await bench.table.get(holdings.key_of(ALICE))
    assert item is not None
    other: Identity = replace(ALICE, **{part: "another"})
    key = holdings.key_of(other)
    await bench.table.put({**item, "pk": key.pk, "sk": key.sk})
    with pytest.raises(SignInNeeded):
        await bench.vault.usable(other, bench.issuer)


Steps = st.lists(st.sampled_from(["time", "token", "refused", "lost", "away", "sign in", "out"]))


@settings(max_examples=150, deadline=None)
@given(steps=Steps)
def test_whatever_happens_no_refresh_token_is_used_after_it_gave_a_pair(
    steps: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The law behind M8: a pair that arrived is stored, so a family ends by lost answers only."""
    asyncio.run(_any_story(steps, tmp_path_factory.mktemp("vault")))


async def _any_story(steps: list[str], folder: Path) -> None:
    bench = Bench(folder)
    bench.vault = Vault(bench.table, bench.cipher, bench.clock, CountingIds())
    lost, last = 0, "none"
    for step in ["sign in", *steps]:
        if step == "time":
            bench.clock.advance(LIFE * 0.7)
        elif step == "sign in":
            await bench.connect()
        elif step == "out":
            await bench.vault.forget(ALICE)
        elif step in ("lost", "away"):
            lost += step == "lost"
            bench.issuer.faults = [bench.issuer.lost if step == "lost" else Unavailable("away")]
        else:
            try:
                access = bench.access()
                last = await (access.renewed(last) if step == "refused" else access.token())
            except SignInNeeded:
                assert await bench.table.get(holdings.key_of(ALICE)) is None
    assert bench.issuer.revoked_families <= lost


async def test_keys_of_tokens_name_the_purpose() -> None:
    assert holdings.key_of(ALICE) == keys.user_token(ALICE.principal, "search")
