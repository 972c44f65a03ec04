"""What words two texts have in common, in Chinese, in English and across both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from agent.models.offline.glossary import Concept, concepts

_HAN_RUN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_TOKEN = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
_EXACT = re.compile(
    r"(?=.*\d)[a-z0-9]*[a-z][a-z0-9]*[-._][a-z0-9._-]+|[a-z]+\d{2,}[a-z0-9]*|(?!(?:19|20)\d\d$)\d{3,}"
)
GENERIC = frozenset(
    re.findall(
        r"\w+", "policy polici rule guid document 规定 制度 政策 说明 办法 要求 文件 标准 流程"
    )
)
"""Terms that nearly every document of a company holds."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

_NAME = re.compile(
    r"(?<=[a-z,] )[A-Z][\w'-]+|[A-Z]{2,}\w*|\b[A-Z]\d+\b|(?<=[\u4e00-\u9fff])[A-Za-z]{3,}"
)
"""Words that are written as names: capitals inside a sentence, Latin words in a Chinese one."""

_COUNT = re.compile(r"\d{1,2}")
_SPELT = re.compile(r"[A-Z]{2,}")

_ASKING_ZH = re.compile(
    "今年|去年|之后|之前|不能|不可以|多少钱|超过|以上|以下|怎么办|什么时候|"
    "时候|现在|必须|需要|一共|最后|哪天|意思|多长|多大|多高|多远|怎么样|"
    "怎样|怎么|如何|什么|为何|为什么|多少|多久|哪些|哪个|哪里|哪儿|几天|"
    "几个|是否|能不能|可不可以|可以|请问|帮我|告诉|是不是|有没有|我们|公司|"
    "[我你您吗呢吧啊的了是在和与谁要有请那会能从去发到个多几填钱点]"
)
_ASKING_EN = frozenset(
    re.findall(
        r"\w+",
        "a about after ahead also am an and any are as at be been bring by can company could "
        "day days decided did do does during early fast for from get give go goes had happen "
        "happens has have here hour hours how i if in into is it its just let like ll long make "
        "many may me mean meaning minute minutes month months much must my need now of often on "
        "one or our out per please re second seconds set shall should so some such take tell "
        "than that the their them then there these they this till to until up us use used "
        "using ve want was we week weeks went were what when where which who whom why will "
        "with within work would year years you your",
    )
)


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[str]:
    """Words without their endings, exact tokens, and pairs of Chinese characters."""
    lower = text.lower()
    found = {_stem(t) for t in _TOKEN.findall(lower) if t not in _ASKING_EN}
    for run in _HAN_RUN.findall(_ASKING_ZH.sub(" ", lower)):
        found.update(run[i : i + 2] for i in range(len(run) - 1))
        if len(run) == 1:
            found.add(run)
    return frozenset(found)


@lru_cache(maxsize=4096)
def evidence_terms(text: str) -> frozenset[str]:
    """The same of a text that is searched: no pair of characters is left out."""
    lower = text.lower()
    found = {_stem(part) for t in _TOKEN.findall(lower) for part in (t, *re.split(r"[-._]", t))}
    for run in _HAN_RUN.findall(lower):
        found.update(run)
        found.update(run[i : i + 2] for i in range(len(run) - 1))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing that a question names.

    `ways` are the term sets that stand for it in either language, `said` the words it was named
    with, `sure` whether it is a name: a code, a place, a capitalised word.
    """

    ways: frozenset[frozenset[str]]
    said: str
    concept: Concept | None = None
    sure: bool = False

    @property
    def place(self) -> bool:
        """Whether it is a place of the glossary."""
        return self.concept is not None and self.concept.place


@lru_cache(maxsize=512)
def things(question: str) -> tuple[Thing, ...]:
    """What a question names, each thing once: field words first, then every other word."""
    spans: list[tuple[int, int, Concept]] = []
    for start, end, concept in sorted(_mentions(question), key=lambda m: m[0] - m[1]):
        if all(end <= s or start >= e or (start, end) == (s, e) for s, e, _ in spans):
            spans.append((start, end, concept))
    merged: dict[tuple[int, int], Thing] = {}
    for start, end, concept in sorted(spans, key=lambda m: m[:2]):
        known = merged.get((start, end))
        ways = _ways(concept) | known.ways if known else _ways(concept)
        place = concept if concept.place or known is None else known.concept
        merged[start, end] = Thing(
            ways,
            question[start:end],
            place,
            concept.place or _SPELT.fullmatch(question[start:end]) is not None,
        )
    left = list(question)
    for start, end, _ in spans:
        left[start:end] = " " * (end - start)
    found = list(dict.fromkeys(merged.values()))
    return (*found, *_others("".join(left)))


def _others(text: str) -> Iterator[Thing]:
    names = {m.group().lower() for m in _NAME.finditer(text)}
    exact = exact_tokens(text)
    tokens = (t for t in _TOKEN.findall(text.lower()) if t not in _ASKING_EN)
    for token in dict.fromkeys(t for t in tokens if not _COUNT.fullmatch(t)):
        ways = frozenset((frozenset((_stem(token),)),))
        yield Thing(ways, token, None, token in exact or token in names)
    for term in sorted(t for t in terms(text) if _HAN_RUN.match(t)):
        yield Thing(frozenset((frozenset((term,)),)), term)


def _mentions(question: str) -> Iterator[tuple[int, int, Concept]]:
    lower = question.lower()
    for concept, pattern in _patterns():
        for match in pattern.finditer(lower):
            yield match.start(), match.end(), concept


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[Concept, re.Pattern[str]], ...]:
    made: list[tuple[Concept, re.Pattern[str]]] = []
    for concept in concepts():
        words = [*map(re.escape, concept.zh), *(_inflected(word) for word in concept.en)]
        made.append((concept, re.compile("|".join(sorted(words, key=len, reverse=True)))))
    return tuple(made)


def _inflected(phrase: str) -> str:
    """A phrase with the endings that its last word may take."""
    base = re.escape(phrase).replace("\\ ", r"[\s-]+")
    if not phrase[-1].isalpha() or len(phrase) < 3:
        return rf"(?<![a-z0-9]){base}(?![a-z0-9])"
    stem = base[:-1] if phrase.endswith(("e", "y")) else base
    end = (
        r"(?:e|es|ed|ing|s)?"
        if phrase.endswith("e")
        else r"(?:y|ies|ied)?"
        if (phrase.endswith("y"))
        else rf"(?:s|es|ed|ing|{phrase[-1]}ing|{phrase[-1]}ed)?"
    )
    return rf"(?<![a-z0-9]){stem}{end}(?![a-z0-9])"


@lru_cache(maxsize=1024)
def _ways(concept: Concept) -> frozenset[frozenset[str]]:
    names = (*concept.zh, *concept.en)
    return frozenset(terms(name) or evidence_terms(name) for name in names)


def in_other_language(text: str, least: int = 2) -> str:
    """The text's field words as a short question in the other language; empty below `least`."""
    from_zh = bool(_HAN_RUN.search(text))
    named = [t for t in things(text) if t.concept or (t.sure and t.said.isascii())]
    place = next((t.concept for t in named if t.concept and t.place), None)
    words = [_other_name(t, from_zh=from_zh) for t in named if not t.place]
    words = [word for word in dict.fromkeys(words) if word]
    if not words or len(words) + bool(place) < least:
        return ""
    if from_zh:
        return f"What is the {' '.join(words)}{' in ' + place.en[0].title() if place else ''}?"
    return f"{place.zh[0] + '的' if place else ''}{''.join(words)}是多少？"


def _other_name(thing: Thing, *, from_zh: bool) -> str:
    if thing.concept is None:
        return thing.said
    there = thing.concept.en if from_zh else thing.concept.zh
    return there[0] if there else ""


def exact_tokens(text: str) -> frozenset[str]:
    """Codes and numbers that an answer must hold: `e-203`, `x200`, `809`; no years, no counts."""
    return frozenset(t for t in _TOKEN.findall(text.lower()) if _EXACT.fullmatch(t))


def numbers(text: str) -> frozenset[str]:
    """All numbers of the text, without separators of thousands."""
    return frozenset(n.replace(",", "") for n in _NUMBER.findall(text))


def place_in(text: str) -> tuple[str, tuple[str, str]] | None:
    """The first known place as it is written in the text, and its names in both languages."""
    hits = [(text.find(t.said), t) for t in things(text) if t.place]
    if not hits:
        return None
    thing = min(hits, key=lambda hit: hit[0])[1]
    assert thing.concept is not None  # noqa: S101  a place is in the glossary
    return thing.said, (thing.concept.zh[0], thing.concept.en[0])


def _stem(word: str) -> str:
    if not word.isalpha() or len(word) < 4:
        return word
    for ending in ("ings", "ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e")


@lru_cache(maxsize=4096)
def places_in(text: str) -> frozenset[Concept]:
    """All places of the glossary that a text names."""
    lower = text.lower()
    return frozenset(c for c, pattern in _patterns() if c.place and pattern.search(lower))
