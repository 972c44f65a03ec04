"""Turns a question into the few words that a platform's own keyword search can find things by."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER: Final = rf"[^\W_{_HAN}]"
_ADDRESS: Final = re.compile(r"https?://\S+")
_OWNER: Final = re.compile(r"['’]s\Z")
_PIECE: Final = re.compile(
    r"[\"“「《](?P<quoted>[^\"“”「」《》]{2,60})[\"”」》]"
    rf"|(?P<han>[{_HAN}]+)"
    rf"|(?P<word>{_LETTER}(?:{_LETTER}|[-._/+#&'’@](?={_LETTER}))*)"
)
_HAN_ONE: Final = re.compile(f"[{_HAN}]")
_ASKING_ZH: Final = re.compile(
    "什么时候|多长时间|怎么办|怎么样|怎样|怎么|如何|为什么|什么|为何|有多少|多少钱|多少|多久|有哪些|"
    "哪些|哪个|哪里|哪儿|哪天|哪一天|哪家|哪一家|哪位|有几|几点|几个|几|是否|能不能|可不可以|可以|"
    "请问|请|帮我|帮忙|查一下|找一下|看一下|告诉我|想知道|是不是|有没有|一下|那次|这次|那个|这个|"
    "(?:定|约)(?=在?(?:哪|什么时候|几))|"
    "最后|最终|到底|一共|总共|目前|我们|咱们|我|你|吗|呢|吧|啊|谁|(?<![但还要若可])是(?!否)|"
    "(?<!目)的(?!确|士)|了(?!解|结)|(?<![存现所])在(?![线职编岗校途建])"
)
_ASKING_EN: Final = frozenset(
    re.findall(
        r"[\w'’]+",
        "a about also an and any anybody anyone are as at be been by can could decided did do "
        "does each find for from get had has have he her him his how i if in into is it its "
        "let's many me much must my now of on or our please say shall she should show so some "
        "tell than that the their them then there these they this to us was we were what what's "
        "when where which who whom whose why will with would you your",
    )
)
_QUESTION: Final = re.compile(
    r"什么|哪[个些里儿天家位一]|几[点个号天]|多少|多久|多长|怎么|怎样|如何|为何|是否|有没有|吗\W*\Z|"
    r"\A(?:who|whom|whose|what|when|where|which|why|how)\b",
    re.IGNORECASE,
)
_MOST: Final = 12
"""More words than that narrow a search to nothing."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a question: where it stands, and how much it tells."""

    place: int
    text: str
    weight: float


def keywords(question: str, limit: int) -> str:
    """The words of a question that tell what it is about, in their order, at most `limit` long.

    Words that only ask are left out. Where not all of the others fit, quoted words, codes, names
    and long words stay. A question of asking words alone keeps them. "" for one without any letter
    or digit.

    Args:
        question: A question or keywords, Chinese, English or mixed.
        limit: Characters that the platform takes.
    """
    text = _cleaned(question)
    words = sorted(_words(text), key=lambda w: (-w.weight, w.place))
    if not words:
        return _cut(" ".join(m.group().strip('"“”「」《》') for m in _PIECE.finditer(text)), limit)
    kept: list[_Word] = []
    length = -1
    for word in words[:_MOST]:
        if length + 1 + len(word.text) <= limit:
            kept.append(word)
            length += 1 + len(word.text)
    if not kept:
        return _cut(words[0].text, limit)
    return " ".join(w.text for w in sorted(kept, key=lambda w: w.place))


def fewer(question: str, limit: int) -> str:
    """The two words that tell most, for a second try; "" when `keywords` has no more than two."""
    words = sorted(_words(_cleaned(question)), key=lambda w: (-w.weight, w.place))
    if len(words) <= 2:
        return ""
    told = " ".join(w.text for w in sorted(words[:2], key=lambda w: w.place))
    return _cut(told, limit)


def asks(text: str) -> bool:
    """Whether a short text looks like a question: by its mark or by words that only ask."""
    text = _cleaned(text).strip()
    return len(text) <= 200 and bool(text.endswith("?") or _QUESTION.search(text))


def terms(text: str) -> frozenset[str]:
    """The words of a text to compare by: lower-case words, Chinese as pairs of characters."""
    found: set[str] = set()
    for match in _PIECE.finditer(_cleaned(text).casefold()):
        if match["quoted"]:
            found |= terms(match["quoted"])
        elif match["han"]:
            run = match["han"]
            found |= {run} if len(run) == 1 else {run[i : i + 2] for i in range(len(run) - 1)}
        else:
            found |= {match["word"], *re.split(r"[-._/+#&'’@]", match["word"])}
    return frozenset(found)


def told_terms(questions: Iterable[str]) -> frozenset[str]:
    """The words to compare found texts by: those of the questions that tell something."""
    return terms(" ".join(keywords(question, 200) for question in questions))


def _cleaned(text: str) -> str:
    return _ADDRESS.sub(" ", unicodedata.normalize("NFKC", text[:4_000]))


def _words(text: str) -> Iterator[_Word]:
    """The telling words, each once; single Chinese characters only when there is nothing else."""
    seen: set[str] = set()
    single: list[_Word] = []
    found = False
    for place, told in _told(text):
        folded = told.casefold()
        if folded in seen:
            continue
        seen.add(folded)
        word = _Word(place, told, _weight(told))
        if len(told) == 1 and not told.isdigit():
            single.append(word)
            continue
        found = True
        yield word
    if not found:
        yield from single


def _told(text: str) -> Iterator[tuple[int, str]]:
    for match in _PIECE.finditer(text):
        if match["quoted"]:
            yield match.start(), " ".join(match["quoted"].split())
        elif match["han"]:
            for part in re.finditer(
                r"\S+", _ASKING_ZH.sub(lambda m: " " * len(m[0]), match["han"])
            ):
                yield match.start() + part.start(), part.group()
        elif match["word"].casefold() not in _ASKING_EN:
            yield match.start(), _OWNER.sub("", match["word"])


def _weight(word: str) -> float:
    """Codes and numbers tell most, then names, then long words; a Chinese character counts two."""
    weight = min(len(word) + len(_HAN_ONE.findall(word)), 12) / 12
    if any(c.isdigit() for c in word):
        weight += 1.0 if len(word) > 2 else 0.3
    if " " in word:
        weight += 2.0
    if word[0].isupper():
        weight += 0.6
    return weight


def _cut(text: str, limit: int) -> str:
    """The text cut at a blank if there is one, else in the middle of a word."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    return (head if text[limit].isspace() else head.rsplit(" ", 1)[0]).strip() or head
