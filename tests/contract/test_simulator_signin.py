"""Our sign-in against the simulator: consent, PKCE, one-time refresh tokens, taking it back."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from agent.domain import Platform
from agent.errors import Misconfigured, Unavailable
from agent.stores.memory_table import MemoryTable
from agent.stores.system_clock import RandomIds, SystemClock
from connectors.access import SignInNeeded
from connectors.feishu.oauth import FeishuAddresses, FeishuOAuth
from connectors.holdings import Grant
from connectors.signin import SignIn, SignIns
from connectors.slack.oauth import SlackOAuth
from tests.fakes.cipher import PlainCipher
from tests.fakes.simulator_process import RunningSimulator, running_simulator
from tests.fakes.turns import question

BACK = "http://127.0.0.1:9/oauth/callback"
SCOPES: dict[Platform, frozenset[str]] = {
    "feishu": frozenset(("search:message", "search:docs:read")),
    "slack": frozenset(("search:read.private", "canvases:read")),
}
OAuth = FeishuOAuth | SlackOAuth


@pytest.fixture(scope="module")
def running() -> Iterator[RunningSimulator]:
    with running_simulator() as simulator:
        yield simulator


@pytest.fixture
def simulator(running: RunningSimulator) -> RunningSimulator:
    running.reset()
    return running


@pytest.fixture(params=["feishu", "slack"])
async def side(request: pytest.FixtureRequest, simulator: RunningSimulator) -> AsyncIterator[Side]:
    oauth = _oauth(request.param, simulator.origin)
    yield Side(request.param, oauth, simulator)
    await oauth.close()


def _feishu(origin: str, secret: str = "demo-app-secret") -> FeishuOAuth:
    return FeishuOAuth("cli_demo0000000001", secret, FeishuAddresses.of(origin), SystemClock())


def _oauth(platform: Platform, origin: str) -> OAuth:
    if platform == "feishu":
        return _feishu(origin)
    page = f"{origin}/oauth/v2/authorize"
    return SlackOAuth("demo-client", "demo-secret", f"{origin}/api/", page, SystemClock())


class Side:
    """One platform's sign-in and a browser."""

    def __init__(self, platform: Platform, oauth: OAuth, simulator: RunningSimulator) -> None:
        self.platform: Platform = platform
        self.oauth = oauth
        self.simulator = simulator
        self.scopes = SCOPES[platform]
        self.signins = SignIns(MemoryTable(), PlainCipher(), SystemClock(), RandomIds())

    async def begin(self) -> tuple[str, SignIn]:
        """A state and its sign-in."""
        return await self.signins.begin(question(), self.scopes)

    async def agree(self, state: str, sign_in: SignIn, login: str, without: str = "") -> str:
        """Click through the platform's pages as a person; the code of the way back."""
        address = self.oauth.page(state, sign_in.challenge, BACK, self.scopes)
        async with httpx.AsyncClient(trust_env=False) as browser:
            people = await browser.get(address)
            link = next(
                one for one in re.findall(r'href="([^"]+)"', people.text) if f"who={login}" in one
            )
            form = (await browser.get(httpx.URL(address).join(link.replace("&amp;", "&")))).text
            fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))
            boxes = re.findall(r'type="checkbox" name="([^"]+)"', form)
            fields |= {box: "on" for box in boxes if box != f"grant.{without}"}
            fields["as"] = login
            done = await browser.get(address.partition("?")[0], params=fields)
        assert done.status_code == 302, done.text
        query = parse_qs(urlsplit(done.headers["location"]).query)
        assert query["state"] == [state]
        return query["code"][0]

    async def signed_in(self, login: str = "alice", without: str = "") -> Grant:
        state, sign_in = await self.begin()
        code = await self.agree(state, sign_in, login, without)
        return (await self.oauth.exchange(code, sign_in.verifier, BACK))[0]

    def fault(self, path: str, kind: str, **more: object) -> None:
        self.simulator.post(
            "faults", {"kind": kind, "path": path, "count": 1, "platform": self.platform, **more}
        )

    @property
    def token_path(self) -> str:
        return "*/oauth/token" if self.platform == "feishu" else "*oauth.v2.access"


async def test_a_consent_gives_tokens_and_says_whose_they_are(side: Side) -> None:
    state, sign_in = await side.begin()
    code = await side.agree(state, sign_in, "alice")
    grant, holder = await side.oauth.exchange(code, sign_in.verifier, BACK)
    assert side.scopes <= grant.scopes
    assert grant.refresh
    user, tenant = (
        ("ou_demo_alice", "tenant_demo")
        if side.platform == "feishu"
        else ("U0ALICE001", "T0DEMO0001")
    )
    assert (holder.user, holder.tenants) == (user, {tenant})
    with pytest.raises(SignInNeeded):
        await side.oauth.exchange(code, sign_in.verifier, BACK)


async def test_a_scope_that_was_unticked_is_not_granted(side: Side) -> None:
    unwanted = sorted(side.scopes)[0]
    assert side.scopes - (await side.signed_in(without=unwanted)).scopes == {unwanted}


async def test_a_code_is_no_good_without_its_verifier(simulator: RunningSimulator) -> None:
    oauth = _feishu(simulator.origin)
    side = Side("feishu", oauth, simulator)
    state, sign_in = await side.begin()
    code = await side.agree(state, sign_in, "alice")
    with pytest.raises(SignInNeeded):
        await oauth.exchange(code, "another" * 8, BACK)
    await oauth.close()


async def test_a_refresh_token_works_once_and_reuse_ends_the_family(side: Side) -> None:
    first = await side.signed_in()
    second = await side.oauth.refresh(first)
    assert second.access != first.access
    assert second.scopes == first.scopes
    with pytest.raises(SignInNeeded):
        await side.oauth.refresh(first)
    with pytest.raises(SignInNeeded):
        await side.oauth.refresh(second)


async def test_a_lost_answer_is_no_refusal(side: Side) -> None:
    grant = await side.signed_in()
    side.fault(side.token_path, "drop")
    with pytest.raises(Unavailable):
        await side.oauth.refresh(grant)
    with pytest.raises(SignInNeeded):
        await side.oauth.refresh(grant)


@pytest.mark.parametrize("kind", ["status", "html", "bad_json"])
async def test_a_fault_of_the_platform_ends_nothing(side: Side, kind: str) -> None:
    grant = await side.signed_in()
    side.fault(side.token_path, kind)
    with pytest.raises(Unavailable):
        await side.oauth.refresh(grant)
    assert (await side.oauth.refresh(grant)).access


async def test_how_long_tokens_live_can_be_switched(side: Side) -> None:
    side.fault("*", "token_life", seconds=60, refresh_seconds=90)
    grant = await side.signed_in()
    assert 0 < grant.ends - SystemClock().now() <= 60


async def test_a_consent_is_taken_back(side: Side) -> None:
    grant = await side.signed_in()
    await side.oauth.revoke(grant)
    with pytest.raises(SignInNeeded):
        await side.oauth.refresh(grant)
    await side.oauth.revoke(grant)


async def test_a_wrong_secret_is_the_operators_matter(simulator: RunningSimulator) -> None:
    oauth = _feishu(simulator.origin, "wrong")
    side = Side("feishu", oauth, simulator)
    state, sign_in = await side.begin()
    code = await side.agree(state, sign_in, "alice")
    with pytest.raises(Misconfigured):
        await oauth.exchange(code, sign_in.verifier, BACK)
    await oauth.close()


@pytest.mark.parametrize("agrees", [True, False])
async def test_a_device_sign_in_needs_no_way_back(
    agrees: bool, simulator: RunningSimulator
) -> None:
    oauth = _feishu(simulator.origin)
    device = await oauth.start_device(SCOPES["feishu"])
    waiting = asyncio.create_task(oauth.finish_device(device))
    async with httpx.AsyncClient(trust_env=False) as browser:
        said = "as=chen" if agrees else "no=1"
        assert (await browser.get(f"{device.url}&{said}")).status_code == 200
    if agrees:
        grant, holder = await waiting
        assert holder.user == "ou_demo_chen"
        assert SCOPES["feishu"] <= grant.scopes
    else:
        with pytest.raises(SignInNeeded):
            await waiting
    await oauth.close()
