"""What the bot says about connecting one's own sources, and whom it offers that to."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, cast

from agent.domain import Language, Platform
from agent.durable import keys
from agent.durable.records import new_item
from agent.errors import ConditionFailed, PlumblineError
from agent.ports import Absent, AnyOf, Compare, Control
from handlers.surface import manual

if TYPE_CHECKING:
    from agent.desk import Desk
    from agent.durable.records import TurnRecord
    from connectors.tools import OwnSources, State

log = logging.getLogger(__name__)

CONNECTED: Final = "connected"
"""The act of a person who has just agreed."""
ALL: Final = "own"
"""All own sources, in the command sources."""
NAMES: Final[dict[Platform, dict[Language, str]]] = {
    "feishu": {"zh": "飞书", "en": "Feishu"},
    "slack": {"zh": "Slack", "en": "Slack"},
}

_Pair = dict[Language, str]
Line = Literal["nothing_to_connect", "signed_out", "signed_out_here", "not_signed_in"]

_OFFER: Final[_Pair] = {
    "zh": (
        "要我也搜索{kinds}吗？请连接您的{platform}账号，只用来查您自己能看的内容。\n"
        "会申请的权限：\n{scopes}\n"
        "保存什么：加密的访问凭证，到您发送 {logout} 或连接到期为止；用到这些内容的答案加密保存，"
        "最多 30 天，只有您能看。不会替您发送或修改任何内容。\n"
        "不想连接？发送 {off} 就不再询问。"
    ),
    "en": (
        "Shall I search {kinds} as well? Connect your {platform} account: I then look up what you "
        "yourself can see, for your questions only.\n"
        "Permissions it asks for:\n{scopes}\n"
        "What is kept: the sealed access token, until you send {logout} or the connection ends; "
        "answers that drew on these sources, sealed, for you alone, 30 days at most. Nothing is "
        "ever sent or changed in your name.\n"
        "Rather not? Send {off} and I stop asking."
    ),
}
_THEN: Final[_Pair] = {
    "zh": "同意之后，回到这里再问一次。",
    "en": "When you have agreed, come back here and ask again.",
}
_SCOPES_OF: Final[_Pair] = {"zh": "{kind}：{scopes}", "en": "{kind}: {scopes}"}
_BUTTON: Final[_Pair] = {"zh": "连接{platform}", "en": "Connect {platform}"}
_REMARK: Final[_Pair] = {
    "zh": "没有搜索{kinds}，因为还没有连接。要连接，请发送 {sources}。（PL-210）",
    "en": (
        "Not searched, because it is not connected: {kinds}. To connect, send {sources}. (PL-210)"
    ),
}
_DONE: Final[_Pair] = {
    "zh": "已连接{platform}。现在会搜索：{kinds}。随时发送 {logout} 断开。",
    "en": "{platform} is connected. From now on I search: {kinds}. Send {logout} to end it.",
}
_NONE: Final[_Pair] = {"zh": "（无）", "en": "nothing"}
_LACKING: Final[_Pair] = {
    "zh": "没有搜索{kind}：您没有同意 {scopes}。要打开，请再连接一次。（PL-211）",
    "en": (
        "Off: {kind}, because {scopes} was not granted. To switch it on, connect once more. "
        "(PL-211)"
    ),
}
_AGAIN: Final[_Pair] = {"zh": "再答一次刚才的问题", "en": "Ask my question again"}
_STATES: Final[dict[State, _Pair]] = {
    "connected": {"zh": "已连接", "en": "connected"},
    "ended": {
        "zh": "连接已失效，请重新连接",
        "en": "the connection has ended, please connect again",
    },
    "not_connected": {"zh": "未连接", "en": "not connected"},
    "not_granted": {"zh": "缺少权限 {scopes}", "en": "lacks {scopes}"},
}
_LINES: Final[dict[Line, _Pair]] = {
    "nothing_to_connect": {
        "zh": "这里没有开放连接个人账号。请联系管理员。",
        "en": "Connecting own sources is not set up here. Please ask your administrator.",
    },
    "signed_out": {
        "zh": "已断开：您的访问凭证已在这里删除，并在{platform}注销。要再次连接，发送 {sources}。",
        "en": (
            "Signed out: your tokens are deleted here and ended at {platform}. To connect again, "
            "send {sources}."
        ),
    },
    "signed_out_here": {
        "zh": (
            "已断开：您的访问凭证已在这里删除。{platform}没有响应，请在{platform}的设置里再取消一次授权。"
        ),
        "en": (
            "Signed out: your tokens are deleted here. {platform} did not respond, so please "
            "remove the permission in its settings as well."
        ),
    },
    "not_signed_in": {
        "zh": "您还没有连接，没有要断开的内容。要连接，发送 {sources}。",
        "en": "You are not connected, so there is nothing to end. To connect, send {sources}.",
    },
}


def own_sources(desk: Desk) -> OwnSources | None:
    """The asker's own sources; None where they are not offered."""
    return cast("OwnSources | None", desk.house.own)


def remark(desk: Desk, language: Language, platform: Platform) -> str:
    """The closing line of an answer that had to do without a sign-in; "" when none was needed."""
    own = own_sources(desk)
    if own is None or not own.wanted:
        return ""
    return _REMARK[language].format(
        kinds=_kinds(language, _ordered(own, own.wanted)),
        sources=manual.command(platform, "sources"),
    )


async def offer_after(desk: Desk, record: TurnRecord) -> None:
    """Offer the asker alone to connect what the turn could not search; nothing when it could.

    Once a day: the remark under each answer names the command sources, which offers at any time.
    An offer that can not be delivered is left.
    """
    own = own_sources(desk)
    if own is None or not own.wanted:
        return
    try:
        if await _offered_lately(desk, record):
            return
        await offer(desk, record, desk.preferences.off, record.turn)
    except PlumblineError as fault:
        log.warning("turn %s: nobody was offered to connect: %s", record.turn, fault.code)


async def _offered_lately(desk: Desk, record: TurnRecord) -> bool:
    """Whether another turn of the person made the offer less than a day ago; else it is noted."""
    asker, now = record.question.asker, desk.clock.now()
    note = new_item(keys.offered(asker.principal), "offered", asker.org, now, asker.principal)
    note["turn"] = record.turn
    due = AnyOf((Absent(), Compare("exp", "<=", int(now)), Compare("turn", "=", record.turn)))
    try:
        await desk.table.put_if(note, (due,))
    except ConditionFailed:
        return True
    return False


async def offer(desk: Desk, record: TurnRecord, off: frozenset[str], about: str = "") -> None:
    """Send the asker alone the words and the button.

    Args:
        desk: Where the asker is served.
        record: The turn that makes the offer.
        off: The kinds that the asker does not want.
        about: The turn that may be asked again after the sign-in.
    """
    own = own_sources(desk)
    assert own is not None  # noqa: S101  the callers have looked
    question = record.question
    language = desk.preferences.language_or(question.language)
    wanted = [kind for kind in own.kinds if kind not in off]
    platform = question.asker.platform
    text = _OFFER[language].format(
        kinds=_kinds(language, wanted),
        platform=NAMES[platform][language],
        scopes=_scopes(language, own.scopes, wanted),
        logout=manual.command(platform, "logout"),
        off=manual.command(platform, f"sources off {ALL}"),
    )
    if own.devices is not None:
        text += "\n" + _THEN[language]
    address = await own.address(question, about)
    label = _BUTTON[language].format(platform=NAMES[platform][language])
    control = Control("connect", record.turn, label, address)
    await desk.chat.whisper(
        question.chat, question.asker, text, f"{record.turn} connect", (control,)
    )


async def connected(desk: Desk, record: TurnRecord) -> tuple[str, tuple[Control, ...]]:
    """What a person hears after the sign-in: what is searched now, what is off and why."""
    own = own_sources(desk)
    question = record.question
    language = desk.preferences.language_or(question.language)
    if own is None:
        return line(language, question.asker.platform, "nothing_to_connect"), ()
    searched = [k for k in own.kinds if k not in own.missing and k not in desk.preferences.off]
    parts = [done(language, question.asker.platform, searched)]
    parts += lacking(
        language, {k: v for k, v in own.missing.items() if k not in desk.preferences.off}
    )
    again = Control("retry", question.about, _AGAIN[language])
    return "\n".join(parts), (again,) if question.about else ()


def done(language: Language, platform: Platform, searched: Sequence[str]) -> str:
    """The platform is connected; `searched` are the kinds that are on."""
    return _DONE[language].format(
        platform=NAMES[platform][language],
        kinds=_kinds(language, searched) or _NONE[language],
        logout=manual.command(platform, "logout"),
    )


def lacking(language: Language, missing: Mapping[str, Iterable[str]]) -> list[str]:
    """One line for each kind that is off for want of scopes."""
    return [
        _LACKING[language].format(
            kind=manual.kind_name(language, kind), scopes=", ".join(sorted(scopes))
        )
        for kind, scopes in missing.items()
    ]


def states(language: Language, own: OwnSources) -> dict[str, str]:
    """How each kind stands, for the command sources."""
    return {
        kind: _STATES[own.state(kind)][language].format(
            scopes=", ".join(sorted(own.missing.get(kind, ())))
        )
        for kind in own.kinds
    }


def needs_sign_in(own: OwnSources, off: frozenset[str]) -> bool:
    """Whether a sign-in would open a kind that is wanted and closed now."""
    return any(own.state(kind) != "connected" for kind in own.kinds if kind not in off)


def line(language: Language, platform: Platform, name: Line) -> str:
    """One short text about connecting."""
    return _LINES[name][language].format(
        platform=NAMES[platform][language], sources=manual.command(platform, "sources")
    )


async def sign_out(desk: Desk, record: TurnRecord) -> str:
    """End the asker's connection; what the person is told."""
    own, platform = own_sources(desk), record.question.asker.platform
    language = desk.preferences.language_or(record.question.language)
    if own is None:
        return line(language, platform, "nothing_to_connect")
    if not own.connected and not own.ended:
        return line(language, platform, "not_signed_in")
    revoked = await own.sign_out()
    return line(language, platform, "signed_out" if revoked else "signed_out_here")


def codes() -> dict[str, dict[Language, str]]:
    """The texts of this file that carry a code, by code."""
    return {"PL-210": dict(_REMARK), "PL-211": dict(_LACKING)}


def _ordered(own: OwnSources, wanted: Iterable[str]) -> list[str]:
    chosen = frozenset(wanted)
    return [kind for kind in own.kinds if kind in chosen]


def _kinds(language: Language, kinds: Sequence[str]) -> str:
    return ("、" if language == "zh" else ", ").join(manual.kind_name(language, k) for k in kinds)


def _scopes(language: Language, scopes: Mapping[str, frozenset[str]], kinds: Sequence[str]) -> str:
    return "\n".join(
        "· "
        + _SCOPES_OF[language].format(
            kind=manual.kind_name(language, kind),
            scopes=", ".join(f"`{scope}`" for scope in sorted(scopes.get(kind, ()))),
        )
        for kind in kinds
    )
