"""The offline model's words: quotes with their markers, refusals, and what stands between."""

from __future__ import annotations

import re
from itertools import groupby

from agent.domain import Language
from agent.models.offline.choice import Choice
from agent.models.offline.passages import Shown, Unit
from agent.models.offline.rows import in_words

LONGEST_QUOTE = 400
_SAID = re.compile(
    r"(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d) (?P<who>[^:\n]{1,60}): (?P<words>.+)", re.DOTALL
)
"""A line of a chat: when, who, and what was said."""

_WORDS: dict[str, dict[Language, str]] = {
    "from": {"zh": "{title}写道：", "en": "{title} says:"},
    "title": {"zh": "《{title}》", "en": "“{title}”"},
    "dated": {"zh": "（{updated} 更新）", "en": " (updated {updated})"},
    "old": {
        "zh": "旧版{title}已作废，未采用。",
        "en": "The older {title} is obsolete and was set aside.",
    },
    "only old": {
        "zh": "只找到已作废的资料，使用前请向负责人确认：",
        "en": "Only an obsolete source covers this; confirm it with its owner before you use it:",
    },
    "conflict": {
        "zh": "两份现行资料给出的数值不同，请核对适用的版本：",
        "en": "Two current sources give different values; check which one applies:",
    },
    "nothing": {
        "zh": "[no-answer] 抱歉，在您能查看的资料里没有找到能回答这个问题的内容。"
        "可以换个说法（例如准确的名称或错误代码）、缩小到一个主题或地点，"
        "或者请相关同事人工解答。",
        "en": "[no-answer] Sorry, I found nothing in the sources you can read that answers this. "
        "Try other words (the exact name or error code, for example), narrow it to one topic or "
        "place, or ask a colleague who is in charge.",
    },
    "broken": {
        "zh": "[no-answer] 抱歉，刚才没能查到知识库，因此无法回答。"
        "请稍后再问一次，急事请直接联系相关同事。",
        "en": "[no-answer] Sorry, the knowledge base could not be searched just now, so I have no "
        "answer. Please ask again in a moment, or ask a colleague if it is urgent.",
    },
    "hello": {
        "zh": "你好！我可以在公司知识库里查找制度、手册和常见问题，摘录原文并注明出处。"
        "直接提问即可，例如：“上海出差的住宿上限是多少？”",
        "en": "Hello! I look things up in the company's knowledge base and quote the passages with "
        "their sources. Just ask, for example: “What is the hotel limit in Shanghai?”",
    },
}


def small_talk(language: Language) -> str:
    """What the bot can do, in two sentences."""
    return _WORDS["hello"][language]


def refusal(language: Language, *, broken: bool = False) -> str:
    """A refusal with its marker and a next step; `broken` says that the search itself failed."""
    return _WORDS["broken" if broken else "nothing"][language]


def answer(choice: Choice, language: Language) -> str:
    """The quotes as markdown, each with its marker; a refusal when there are none."""
    if not choice.quotes:
        return refusal(language)
    quotes = choice.conflict or choice.quotes
    lead = _lead(choice, language)
    parts = [lead] if lead else []
    for _, group in groupby(quotes, key=lambda u: u.shown.source):
        parts.append(_quoted(tuple(group), language, numbered=choice.steps))
    for shown in choice.set_aside:
        parts.append(f"{_say('old', language, shown)} [src:{shown.source}]")
    return "\n\n".join(parts)


def _lead(choice: Choice, language: Language) -> str:
    if choice.conflict:
        return _WORDS["conflict"][language]
    return _WORDS["only old"][language] if choice.quotes[0].shown.obsolete else ""


def _quoted(group: tuple[Unit, ...], language: Language, *, numbered: bool) -> str:
    head = _say("from", language, group[0].shown)
    lines = [
        f"{f'{n}.' if numbered else '-'} {_short(_words_of(u))} [src:{u.shown.source}]"
        for n, u in enumerate(group, start=1)
    ]
    return "\n".join([head, "", *lines])


def _say(what: str, language: Language, shown: Shown) -> str:
    title = _WORDS["title"][language].format(title=_title(shown))
    if shown.updated and shown.sort != "message":  # its title tells the day
        title += _WORDS["dated"][language].format(updated=shown.updated)
    return _WORDS[what][language].format(title=title)


def _title(shown: Shown) -> str:
    """A title must not open a link or a marker."""
    return (shown.title or shown.source).replace("[", "(").replace("]", ")").strip("《》")


def _words_of(unit: Unit) -> str:
    if unit.kind == "row":
        return in_words(unit.text)
    said = _SAID.match(unit.text) if unit.shown.sort == "message" else None
    if said and said["at"] in unit.shown.title and said["who"] in unit.shown.title:
        return said["words"]
    return unit.text


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1].rstrip() + "…"
