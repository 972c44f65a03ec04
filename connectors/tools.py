"""Where an asker meets the connectors: the tools of their own sources, and what keeps some away.

A kind is searched when the operator offers it, the person wants it and has agreed to its scopes.
A kind that the person wants and has not connected stays on the table as a tool that asks for the
sign-in; one whose scopes were not granted is off, and the person can see why.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from agent.dialogue import ToolSpec
from agent.domain import Identity, Json, Language, Platform, Question
from agent.errors import Misconfigured, Retryable
from agent.ports import Clock, Effect, Tool, ToolResult
from connectors import holdings
from connectors.access import Access, ScopeMissing, SearchBudget, SignInNeeded
from connectors.credentials import PersonalAccess, Vault
from connectors.holdings import Grant
from connectors.signin import Authority, Devices, SignIns

log = logging.getLogger(__name__)

MOST_SEARCHES: Final[Mapping[Platform, int]] = {"feishu": 3, "slack": 2}
"""Searches of a turn (SLACK.md 5, FEISHU.md 6)."""

State = Literal["connected", "ended", "not_connected", "not_granted"]
"""How a kind stands: `ended` was connected once, `not_granted` lacks scopes."""

Build = Mapping[str, tuple[Tool, ...]]


class Connector(Protocol):
    """A platform's own connectors."""

    def scopes(self) -> Mapping[str, frozenset[str]]:
        """The scopes that each kind needs."""
        ...

    def tools(self, access: Access, budget: SearchBudget, question: Question) -> Build:
        """The tools of each kind for one asker."""
        ...

    def open(self, kind: str, question: Question) -> bool:
        """Whether a kind finds something without a sign-in (Slack's public search)."""
        ...


@dataclass(frozen=True, slots=True)
class FeishuConnector:
    """Messages, documents and minutes of Feishu."""

    base_url: str
    clock: Clock

    def scopes(self) -> Mapping[str, frozenset[str]]:
        """The scopes that each kind needs."""
        from connectors.feishu.personal import SCOPES

        return {kind: frozenset(scopes) for kind, scopes in SCOPES.items()}

    def tools(self, access: Access, budget: SearchBudget, question: Question) -> Build:
        """The tools of each kind for one asker."""
        from connectors.feishu.personal import build_tools

        del question
        return build_tools(access, self.base_url, self.clock, budget)

    def open(self, kind: str, question: Question) -> bool:
        """Nothing is found without a sign-in."""
        del kind, question
        return False


@dataclass(frozen=True, slots=True)
class SlackConnector:
    """Messages, files and canvases of Slack; the bot's token serves the public search alone."""

    base_url: str
    clock: Clock
    bot_token: str = field(default="", repr=False)

    def scopes(self) -> Mapping[str, frozenset[str]]:
        """The scopes that each kind needs."""
        from connectors.slack.personal import SCOPES

        return {kind: frozenset(scopes) for kind, scopes in SCOPES.items()}

    def tools(self, access: Access, budget: SearchBudget, question: Question) -> Build:
        """The tools of each kind for one asker."""
        from connectors.slack.personal import build_tools

        hints = question.platform_hints
        return build_tools(access, self.base_url, self.clock, budget, hints, self.bot_token)

    def open(self, kind: str, question: Question) -> bool:
        """Public messages are found with the token of the event that asked (SLACK.md 5)."""
        return kind == "messages" and bool(question.platform_hints.get("action_token"))


@dataclass(slots=True)
class OwnSources:
    """The asker's own sources in one turn.

    `start_page` is our own page that begins a sign-in; without one `devices` do.
    `kinds` are those that the operator offers, `missing` says which scopes were not granted to a
    kind, `wanted` collects the kinds that a call asked for and that need a sign-in.
    """

    asker: Identity
    kinds: tuple[str, ...]
    start_page: str
    vault: Vault
    signins: SignIns
    authority: Authority
    scopes: Mapping[str, frozenset[str]]
    devices: Devices | None = None
    off: frozenset[str] = frozenset()
    tools: tuple[Tool, ...] = ()
    connected: bool = False
    ended: bool = False
    missing: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    wanted: set[str] = field(default_factory=set[str])

    def state(self, kind: str) -> State:
        """How a kind stands."""
        if kind in self.wanted or not self.connected:
            return "ended" if self.ended or self.connected else "not_connected"
        return "not_granted" if kind in self.missing else "connected"

    async def address(self, question: Question, turn: str) -> str:
        """Where the asker connects; `turn` is the one that wanted it ("" for none).

        Raises:
            Retryable: table or platform gave no answer.
            Misconfigured: the platform refuses our own id.
        """
        if self.devices is not None:
            kinds = tuple(kind for kind in self.kinds if kind not in self.off) or self.kinds
            asked = asked_scopes(self.scopes, kinds)
            waiting = await self.signins.waiting(self.asker)
            if waiting is not None and waiting.asked == asked:
                return waiting.url
            device = await self.devices.start_device(asked)
            await self.signins.wait_for(self.asker, device, asked)
            return device.url
        ticket = await self.signins.ticket(question, turn)
        return f"{self.start_page}?ticket={ticket}"

    async def sign_out(self) -> bool:
        """Forget the tokens at once, then end them at the platform; False when that failed."""
        grant = await self.vault.forget(self.asker)
        self.connected = False
        await self.signins.stop_waiting(self.asker)
        return grant is None or await revoked(self.authority, grant)


def asked_scopes(scopes: Mapping[str, frozenset[str]], kinds: tuple[str, ...]) -> frozenset[str]:
    """All scopes that the kinds need."""
    return frozenset(scope for kind in kinds for scope in scopes.get(kind, frozenset()))


def kinds_without(
    scopes: Mapping[str, frozenset[str]], kinds: tuple[str, ...], granted: frozenset[str]
) -> dict[str, frozenset[str]]:
    """The kinds whose scopes were not all granted, with those that are missing."""
    lacking = {kind: scopes.get(kind, frozenset()) - granted for kind in kinds}
    return {kind: missing for kind, missing in lacking.items() if missing}


async def personal_tools(
    own: OwnSources, connector: Connector, question: Question, off: frozenset[str]
) -> OwnSources:
    """Put the tools of the asker's own sources on the table.

    Args:
        own: The asker's sources, still without tools.
        connector: The asker's platform.
        question: What is asked, with the platform's hints.
        off: The kinds that the person does not want searched.

    Raises:
        Unavailable: the table gave no answer.
    """
    access = PersonalAccess(own.asker, own.vault, own.authority)
    own.off = off
    granted = await access.scopes()
    if not granted and own.devices is not None and await _agreed(own, own.devices):
        granted = await access.scopes()
    own.connected = bool(granted)
    own.ended = not granted and await holdings.consent(own.vault.table, own.asker) is not None
    own.missing = kinds_without(own.scopes, own.kinds, granted) if granted else {}
    budget = SearchBudget(MOST_SEARCHES[own.asker.platform])
    built = connector.tools(access, budget, question)
    own.tools = tuple(
        OwnTool(tool, kind, own, closed=not granted and not connector.open(kind, question))
        for kind in own.kinds
        if kind not in off and kind not in own.missing
        for tool in built.get(kind, ())
    )
    return own


async def _agreed(own: OwnSources, devices: Devices) -> bool:
    """Whether a device sign-in has come to its end since; its tokens are kept then."""
    waiting = await own.signins.waiting(own.asker)
    if waiting is None:
        return False
    try:
        found = await devices.ask_device(waiting.secret)
    except SignInNeeded:
        await own.signins.stop_waiting(own.asker)
        return False
    except (Retryable, Misconfigured) as fault:
        log.warning("a device sign-in is looked at later: %s", fault)
        return False
    if found is None:
        return False
    await own.signins.stop_waiting(own.asker)
    grant, holder = found
    if not holder.is_person(own.asker):
        log.warning("a device sign-in was another person's")
        await revoked(own.authority, grant)
        return False
    await own.vault.keep(own.asker, grant, waiting.asked)
    return True


async def revoked(authority: Authority, grant: Grant) -> bool:
    """End tokens at the platform; False when it gave no answer."""
    try:
        await authority.revoke(grant)
    except Retryable as fault:
        log.warning("a token was forgotten but not revoked: %s", fault)
        return False
    return True


@dataclass(frozen=True, slots=True)
class OwnTool:
    """A tool of the asker's own sources; `closed` until there is a sign-in.

    Whatever ends for want of a sign-in or a scope is noted, so that the person is offered it.
    """

    tool: Tool
    kind: str
    own: OwnSources
    closed: bool

    @property
    def spec(self) -> ToolSpec:
        """What the model is told; it does not change with the sign-in."""
        return self.tool.spec

    @property
    def permission(self) -> str:
        """The tool's own."""
        return self.tool.permission

    @property
    def effect(self) -> Effect:
        """The tool's own."""
        return self.tool.effect

    @property
    def timeout(self) -> float:
        """The tool's own."""
        return self.tool.timeout

    @property
    def topic(self) -> Mapping[Language, str]:
        """The tool's own."""
        return self.tool.topic

    async def call(self, arguments: Mapping[str, Json]) -> ToolResult:
        """Call the tool.

        Raises:
            SignInNeeded: the person has to connect first, and is offered that after the answer.
            ScopeMissing: the connection does not cover this.
        """
        try:
            return await self._call(arguments)
        except SignInNeeded:
            self.own.wanted.add(self.kind)
            raise
        except ScopeMissing as fault:
            self.own.missing[self.kind] = fault.scopes
            raise

    async def _call(self, arguments: Mapping[str, Json]) -> ToolResult:
        if self.closed:
            raise SignInNeeded(
                "Not connected: the person has not let you search this yet and is offered to "
                "connect it. Answer from what you have."
            )
        return await self.tool.call(arguments)
