"""The commands a person can give, by the same names on both platforms, and what each does."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final, Literal

from agent import phrases
from agent.desk import Desk, Reply
from agent.domain import Language, Platform, Question
from agent.durable import keys, listening, pauses, preferences
from agent.durable.preferences import Preferences
from agent.durable.records import TurnRecord
from handlers.surface import connect, feedback, manual

CommandName = Literal[
    "ask",
    "new",
    "sources",
    "model",
    "lang",
    "status",
    "feedback",
    "help",
    "pause",
    "resume",
    "listen",
    "stop",
    "logout",
    "unknown",
]

WORDS: Final[Mapping[str, CommandName]] = {
    "ask": "ask",
    "提问": "ask",
    "new": "new",
    "新话题": "new",
    "sources": "sources",
    "来源": "sources",
    "model": "model",
    "模型": "model",
    "lang": "lang",
    "语言": "lang",
    "status": "status",
    "状态": "status",
    "feedback": "feedback",
    "反馈": "feedback",
    "help": "help",
    "帮助": "help",
    "pause": "pause",
    "暂停": "pause",
    "resume": "resume",
    "恢复": "resume",
    "listen": "listen",
    "开始听": "listen",
    "stop-listening": "stop",
    "别听了": "stop",
    "logout": "logout",
    "退出": "logout",
    "断开": "logout",
}
_BARE: Final = re.compile(
    r"(?:lang|语言) (?:zh|en|auto|中文|英文|自动)|(?:sources|来源) (?:on|off) [a-z]+", re.IGNORECASE
)
"""What is a command without its slash as well: words that nobody asks a question with."""
_STOP: Final = re.compile(r"[/／]?(?:stop[ -]listening|别再?听了?)[.!。！]?", re.IGNORECASE)
"""Two words and no slash: what people say to somebody who should not listen."""
_ADMINS: Final = frozenset(("pause", "resume"))
"""Commands of administrators, whose bare word may well be a question."""
_SLASHED: Final = re.compile(r"[/／]([\w-]+)")
"""A word that is meant as a command: a path has a second slash."""
_SLACKS: Final = "plumb"
"""The command of Slack, which people write in Feishu too."""
_LANGUAGES: Final[Mapping[str, Literal["zh", "en", ""]]] = {
    "zh": "zh",
    "中文": "zh",
    "chinese": "zh",
    "en": "en",
    "英文": "en",
    "english": "en",
    "auto": "",
    "自动": "",
}
LONGEST_FEEDBACK: Final = 4_000
"""Characters of a person's own words that are kept."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command and the words behind it; behind an unknown one stands what it was called."""

    name: CommandName
    rest: str = ""


def parse(text: str) -> Command | None:
    """The command in a message: /name with words behind it, or a name alone.

    None for everything else: a word without a slash that is no command is a question.
    """
    if _STOP.fullmatch(text.strip()):
        return Command("stop")
    first, rest = _split(text)
    slashed = _SLASHED.fullmatch(first)
    if slashed:
        word = slashed[1].casefold()
        return parse_slash(rest) if word == _SLACKS else _named(word, rest)
    name = WORDS.get(first.casefold())
    if name is None or name in _ADMINS:
        return None
    if _BARE.fullmatch(text.strip()):
        return Command(name, rest)
    return None if rest else Command(name)


def parse_slash(text: str) -> Command:
    """The command behind /plumb; words that begin with no known name are a question."""
    first, rest = _split(text)
    if _STOP.fullmatch(text.strip()):
        return Command("stop")
    if not first:
        return Command("help")
    slashed = _SLASHED.fullmatch(first)
    if slashed:
        return _named(slashed[1].casefold(), rest)
    name = WORDS.get(first.casefold())
    return Command(name, rest) if name else Command("ask", text.strip())


def _split(text: str) -> tuple[str, str]:
    """The first word and all behind it."""
    first, *rest = text.split(maxsplit=1) or [""]
    return first, "".join(rest).strip()


def _named(word: str, rest: str) -> Command:
    name = WORDS.get(word)
    return Command("unknown", word) if name is None else Command(name, rest)


def question_of(question: Question) -> Question:
    """The question that /ask asks; any other message as it is."""
    command = parse(question.text)
    if command is None or command.name != "ask" or not command.rest:
        return question
    return replace(question, text=command.rest)


async def run(desk: Desk, record: TurnRecord, command: Command) -> Reply:
    """Do what a command asks for; what the person is told of it."""
    return await _RUNS[command.name](_Order(desk, record, command.rest))


@dataclass(frozen=True, slots=True)
class _Order:
    """A command of a person at a desk."""

    desk: Desk
    record: TurnRecord
    rest: str

    @property
    def language(self) -> Language:
        return self.desk.preferences.language_or(self.record.question.language)

    @property
    def platform(self) -> Platform:
        return self.record.question.asker.platform

    @property
    def chosen(self) -> Preferences:
        return self.desk.preferences

    async def save(self, chosen: Preferences) -> None:
        record, desk = self.record, self.desk
        await preferences.save(desk.table, desk.clock, record.org, record.owner, chosen)


async def _ask(order: _Order) -> Reply:
    return Reply(manual.line(order.language, "ask_what", order.platform))


async def _new(order: _Order) -> Reply:
    return Reply(phrases.cleared(order.language), clear=True)


async def _help(order: _Order) -> Reply:
    admin = order.desk.house.admin
    return Reply(manual.help_text(order.language, order.platform, admin=admin))


async def _unknown(order: _Order) -> Reply:
    admin = order.desk.house.admin
    words = [word for word, name in WORDS.items() if admin or name not in _ADMINS]
    begun = [word for word in words if word.startswith(order.rest)]
    near = [*begun, *get_close_matches(order.rest, words, n=3, cutoff=0.5)][:3]
    once = {WORDS[word]: word for word in reversed(near)}
    names = [word for word in near if once[WORDS[word]] == word]
    return Reply(manual.unknown_command(order.language, order.platform, order.rest, names))


async def _sources(order: _Order) -> Reply:
    kinds, off = order.desk.house.kinds, order.chosen.off
    switch, _, kind = order.rest.casefold().partition(" ")
    kind = kind.strip() or kinds[0]
    own = connect.own_sources(order.desk)
    if switch in ("on", "off"):
        meant = {*own.kinds} if own and kind == connect.ALL else {kind}
        if not meant <= {*kinds}:
            return Reply(manual.line(order.language, "sources_unknown", order.platform))
        off = off | meant if switch == "off" else off - meant
        await order.save(replace(order.chosen, off=off))
    if own and switch != "off" and connect.needs_sign_in(own, off):
        await connect.offer(order.desk, order.record, off)
    states = connect.states(order.language, own) if own else {}
    return Reply(manual.sources(order.language, order.platform, kinds, off, states))


async def _logout(order: _Order) -> Reply:
    return Reply(await connect.sign_out(order.desk, order.record))


async def _model(order: _Order) -> Reply:
    names, language = order.desk.house.models, order.language
    if not order.rest:
        now = order.desk.model.capability().name
        return Reply(manual.models(language, order.platform, now, names))
    known = order.rest in names and (
        order.rest == names[0] or await order.desk.house.opens(order.rest)
    )
    if not known:
        return Reply(manual.model_refused(language, order.rest, names))
    chosen = "" if order.rest == names[0] else order.rest
    await order.save(replace(order.chosen, model=chosen))
    return Reply(manual.model_set(language, order.rest))


async def _lang(order: _Order) -> Reply:
    wanted = order.rest.casefold()
    if wanted and wanted not in _LANGUAGES:
        return Reply(manual.language_refused(order.language, order.platform, order.rest))
    if not wanted:
        chosen = order.chosen.language
        said = manual.speaking(chosen, order.platform) if chosen else None
        return Reply(said or manual.no_language(order.platform))
    language = _LANGUAGES[wanted]
    await order.save(replace(order.chosen, language=language))
    if not language:
        return Reply(manual.line(order.record.question.language, "language_auto"))
    return Reply(manual.speaking(language, order.platform))


async def _status(order: _Order) -> Reply:
    desk = order.desk
    page = await desk.table.query(keys.session(order.record.session), keys.PENDING)
    waiting = sum(str(item["sk"]) != order.record.marker.sk for item in page.items)
    name = desk.model.capability().name
    documents = await desk.house.documents()
    return Reply(manual.status(order.language, name, documents, desk.house.version, waiting))


async def _feedback(order: _Order) -> Reply:
    words = order.rest[:LONGEST_FEEDBACK]
    if not words:
        return Reply(manual.line(order.language, "feedback_what", order.platform))
    desk, record = order.desk, order.record
    await feedback.give(desk.table, desk.clock, record, record.question.asker, "said", words)
    return Reply(manual.line(order.language, "feedback_kept"))


async def _pause(order: _Order) -> Reply:
    return await _switched(order, to_pause=True)


async def _resume(order: _Order) -> Reply:
    return await _switched(order, to_pause=False)


async def _switched(order: _Order, *, to_pause: bool) -> Reply:
    desk, record = order.desk, order.record
    if not desk.house.admin:
        return Reply(manual.line(order.language, "admins_only"))
    everywhere = order.rest.casefold() == pauses.EVERYWHERE
    place = pauses.EVERYWHERE if everywhere else pauses.place_of(record.question)
    if to_pause:
        await pauses.pause(desk.table, desk.clock, record.org, place, record.owner)
        name = "paused_all" if everywhere else "paused_here"
        return Reply(manual.line(order.language, name, order.platform))
    await pauses.resume(desk.table, record.org, place)
    return Reply(manual.line(order.language, "resumed"))


async def _listen(order: _Order) -> Reply:
    desk, question = order.desk, order.record.question
    if question.chat.kind == "direct":
        return Reply(manual.line(order.language, "listen_in_groups"))
    if desk.house.admin:
        await listening.start(desk.table, desk.clock, question)
    elif question.chat.thread and await listening.opted_in(desk.table, question):
        await listening.resume_thread(desk.table, question)
    else:
        return Reply(manual.line(order.language, "admins_only"))
    return Reply(manual.line(order.language, "listening"))


async def _stop(order: _Order) -> Reply:
    desk, question = order.desk, order.record.question
    if question.chat.kind == "direct":
        return Reply(manual.line(order.language, "listen_in_groups"))
    await listening.stop(desk.table, desk.clock, question)
    name = "deaf_thread" if question.chat.thread else "deaf_channel"
    return Reply(manual.line(order.language, name))


_RUNS: Final[Mapping[CommandName, Callable[[_Order], Awaitable[Reply]]]] = {
    "ask": _ask,
    "new": _new,
    "sources": _sources,
    "model": _model,
    "lang": _lang,
    "status": _status,
    "feedback": _feedback,
    "help": _help,
    "pause": _pause,
    "resume": _resume,
    "listen": _listen,
    "stop": _stop,
    "logout": _logout,
    "unknown": _unknown,
}
