"""`plumbline doctor`: what works on the operator's real tenant, call by call and scope by scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.domain import Platform
from agent.errors import Misconfigured
from agent.ports import Clock, Ids
from agent.stores.system_clock import RandomIds, SystemClock
from handlers.doctor.caller import Caller, Samples
from handlers.doctor.feishu import FeishuDoctor
from handlers.doctor.probe import Finding, examine
from handlers.doctor.redaction import Redactor
from handlers.doctor.slack import SlackDoctor
from handlers.settings import Settings

Choice = Literal["feishu", "slack", "all"]
_CONTRACTS = {"feishu": "FEISHU", "slack": "SLACK"}


@dataclass(frozen=True, slots=True)
class Examination:
    """What an operator asked for.

    `chat` is a chat of their own in which test messages may be written and taken back, "" for none;
    `save` the folder for redacted samples, None for none; `person` a person's token, "" for none.
    """

    platform: Platform
    chat: str = ""
    save: Path | None = None
    person: str = ""


def examination(platform: Platform, chat: str, save: Path | None, person: str) -> Examination:
    """What is meant for one platform: a chat or a token of the other one is left out."""
    lark = platform == "feishu"
    return Examination(
        platform,
        chat if (chat.startswith(("oc_", "ou_")) or "@" in chat) == lark else "",
        save,
        person if person.startswith("xox") != lark else "",
    )


def check_chat(chat: str, examined: Sequence[Platform]) -> None:
    """Make sure that one of the platforms can be written to at --chat; "" writes nowhere.

    Raises:
        Misconfigured: it is no address of any of them.
    """
    if chat and not any(examination(one, chat, None, "").chat for one in examined):
        raise Misconfigured(
            f"--chat {chat} is no address here: Feishu takes a mail address, ou_… or oc_…, "
            "Slack takes U…, C… or D…"
        )


async def examine_platform(
    settings: Settings,
    wanted: Examination,
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> list[Finding]:
    """Ask the platform everything and tell what was found.

    Raises:
        Misconfigured: the samples' folder can not be made.
    """
    clock, ids = clock or SystemClock(), ids or RandomIds()
    folder = wanted.save / wanted.platform if wanted.save else None
    samples = Samples(folder, Redactor(ids.new())) if folder else None
    base = settings.feishu_base_url if wanted.platform == "feishu" else settings.slack_base_url
    caller = Caller(wanted.platform.capitalize(), base, clock, samples)
    try:
        if wanted.platform == "feishu":
            doctor = FeishuDoctor(settings, caller, ids, wanted.chat, wanted.person)
        else:
            doctor = SlackDoctor(settings, caller, wanted.chat, wanted.person)
        return await examine(doctor.probes())
    finally:
        await caller.aclose()


def platforms(settings: Settings, choice: Choice) -> list[Platform]:
    """The platforms to examine: the chosen one, or all that have settings.

    Raises:
        Misconfigured: all were asked for and none is set up.
    """
    if choice != "all":
        return [choice]
    found: list[Platform] = []
    if settings.feishu_app_id:
        found.append("feishu")
    if settings.slack_bot_token:
        found.append("slack")
    if not found:
        raise Misconfigured(
            "No platform is set up: see docs/connect-feishu.md or docs/connect-slack.md."
        )
    return found


def report(platform: Platform, findings: Sequence[Finding]) -> str:
    """The findings as lines for a person, each with the contract's place that it settles."""
    contract = _CONTRACTS[platform]
    lines = [f"{platform.capitalize()}"]
    for one in findings:
        mark = "" if one.needed else " (not needed to answer)"
        lines.append(f"  {one.verdict:<8} {one.probe:<22} {one.sentence}{_if_failed(one, mark)}")
        lines.append(f"           {contract} {one.settles}")
        if one.next_step:
            lines.append(f"           → {one.next_step}")
    counts = {v: sum(f.verdict == v for f in findings) for v in ("pass", "fail", "skipped")}
    told = f"{counts['pass']} passed, {counts['fail']} failed, {counts['skipped']} skipped"
    return "\n".join([*lines, f"  {told}"])


def _if_failed(finding: Finding, mark: str) -> str:
    return mark if finding.verdict == "fail" else ""


def healthy(findings: Sequence[Finding]) -> bool:
    """Whether nothing failed that the product needs."""
    return not any(f.verdict == "fail" and f.needed for f in findings)


def read_token(path: Path | None) -> str:
    """A person's token from a file, so that it stands in no command line; "" without a file.

    Raises:
        Misconfigured: the file can not be read.
    """
    if path is None:
        return ""
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path.name} can not be read: {error}") from error
