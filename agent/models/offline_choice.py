"""Which parts of the shown passages answer a question best, by the words they share with it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agent.language import detect
from agent.models.offline_passages import Shown, Unit, units
from agent.models.offline_terms import (
    GENERIC,
    evidence_terms,
    exact_tokens,
    numbers,
    terms,
    translations,
)

MOST_QUOTES = 5
MOST_SET_ASIDE = 2
MOST_FOREIGN = 3
MOST_STEPS = 8
"""A list of steps is quoted whole up to this length."""

# Weights and limits below were set by hand on the sample company's documents.
_CONTEXT = 0.7
_LEAST = 0.4
_SURE = 0.5
_GENERIC = 0.3
_NEAR = 0.85
_SAME = 0.6

_HOW_MUCH = re.compile(
    r"how (?:much|many|long|old|far|often|high)|limit|maximum|ceiling|price|cost|number|deadline"
    r"|多少|多久|几|上限|标准|限额|价格|期限|号码",
    re.IGNORECASE,
)
_HOW_TO = re.compile(r"\bhow (?:do|can|should|to)\b|\bsteps?\b|怎么(?!办)|如何|怎样|步骤", re.I)


_GENERIC_WAYS = frozenset(frozenset((t,)) for t in GENERIC)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is quoted in order; obsolete sources that were set aside; quotes that contradict."""

    quotes: tuple[Unit, ...] = ()
    set_aside: tuple[Shown, ...] = ()
    conflict: tuple[Unit, Unit] | None = None
    steps: bool = False


@dataclass(frozen=True, slots=True)
class _Rated:
    unit: Unit
    covered: float
    score: float


@dataclass(frozen=True, slots=True)
class _Asks:
    """The kind of answer that is looked for."""

    amount: bool
    way: bool
    exact: frozenset[str]


def _asks(question: str) -> _Asks:
    amount, way = bool(_HOW_MUCH.search(question)), bool(_HOW_TO.search(question))
    return _Asks(amount, way, exact_tokens(question))


def asks_for_steps(question: str) -> bool:
    """Whether the question asks for a way to do something."""
    return bool(_HOW_TO.search(question)) and not exact_tokens(question)


def choose(question: str, passages: Sequence[Shown]) -> Choice:
    """The parts that answer; nothing quoted when none does."""
    rated = [r for r in _rated(question, passages) if r.covered >= _LEAST]
    if not rated:
        return Choice(_foreign(question, passages))
    current = [r for r in rated if not r.unit.shown.obsolete]
    if not current or current[0].score < _SAME * rated[0].score:
        return Choice(_best(rated))
    best = current[0].unit
    aside = _set_aside(rated, best)
    if steps := _steps(question, best):
        return Choice(steps, aside, None, True)
    return Choice(_best(current), aside, _conflict(current))


def _set_aside(rated: Sequence[_Rated], best: Unit) -> tuple[Shown, ...]:
    """Obsolete sources in the language of the answer that would have been quoted too."""
    near = [
        r.unit.shown
        for r in rated
        if r.unit.shown.obsolete
        and r.score >= _SAME * rated[0].score
        and detect(r.unit.shown.title) == detect(best.shown.title)
    ]
    return tuple({s.source: s for s in near}.values())[:MOST_SET_ASIDE]


def _foreign(question: str, passages: Sequence[Shown]) -> tuple[Unit, ...]:
    """The beginning of a sure passage in the other language, which shares no words to go by."""
    for p in passages:
        if p.score is None or p.score < _SURE or p.obsolete or exact_tokens(question):
            continue
        if detect(p.text) != detect(question):
            return units(p)[:MOST_FOREIGN]
    return ()


def _best(rated: Sequence[_Rated]) -> tuple[Unit, ...]:
    """The best and what comes close to it, without saying the same twice."""
    chosen: list[Unit] = []
    for r in rated:
        if r.score < _NEAR * rated[0].score or len(chosen) == MOST_QUOTES:
            break
        if not any(_repeats(r.unit, c) for c in chosen):
            chosen.append(r.unit)
    return tuple(
        sorted(chosen, key=lambda u: [c.shown.source for c in chosen].index(u.shown.source))
    )


def _repeats(unit: Unit, said: Unit) -> bool:
    """Whether the part says what was said: in nearly the same words, or in the other language."""
    if _alike(unit.text, said.text) >= _NEAR and numbers(unit.text) == numbers(said.text):
        return True
    translated = detect(unit.text) != detect(said.text)
    return translated and bool(numbers(unit.text) & numbers(said.text))


def _steps(question: str, best: Unit) -> tuple[Unit, ...]:
    """The whole list that the best part belongs to, when the question asks for a way."""
    if best.kind != "step" or not _HOW_TO.search(question):
        return ()
    same = tuple(u for u in units(best.shown) if u.group == best.group)
    return same if 1 < len(same) <= MOST_STEPS else ()


def _conflict(rated: Sequence[_Rated]) -> tuple[Unit, Unit] | None:
    """Two current sources of one language that give other numbers for the same thing."""
    near = [r.unit for r in rated if r.score >= _NEAR * rated[0].score][: 2 * MOST_QUOTES]
    first = near[0]
    for other in near[1:]:
        if other.shown.source == first.shown.source or not _comparable(first, other):
            continue
        a, b = numbers(first.text), numbers(other.text)
        if a and b and not (a <= b or b <= a):
            return first, other
    return None


def _comparable(a: Unit, b: Unit) -> bool:
    if a.key and b.key:
        return bool(terms(a.key)) and terms(a.key) == terms(b.key) and _alike(a.text, b.text) > 0.3
    return _alike(a.text, b.text) >= _SAME


def _alike(a: str, b: str) -> float:
    """Shared terms of two quotes, numbers aside, as a part of all their terms."""
    left = {t for t in terms(a) if not t[0].isdigit()}
    right = {t for t in terms(b) if not t[0].isdigit()}
    if a == b:
        return 1.0
    return len(left & right) / max(1, len(left | right))


def _rated(question: str, passages: Sequence[Shown]) -> list[_Rated]:
    """All parts with their marks, the best first; parts of equal marks keep their order."""
    parts = [u for p in passages for u in units(p)]
    wanted = exact_tokens(question)
    if wanted:
        parts = [u for u in parts if wanted & evidence_terms(f"{u.context} {u.text}")]
    weights = _weights(question, parts)
    language = detect(question)
    asks = _asks(question)
    marks: list[_Rated] = []
    for unit in parts:
        covered = _covered(unit, weights)
        if wanted & evidence_terms(unit.text):
            covered = max(covered, _SURE)
        bonus = _bonus(unit, asks, title=_cover_all(weights, unit.shown.title))
        if detect(unit.shown.title + unit.text) == language:
            bonus += 0.25
        marks.append(_Rated(unit, covered, covered + bonus))
    return sorted(marks, key=lambda r: -r.score)


Weights = Sequence[tuple[frozenset[frozenset[str]], float]]
"""Each thing asked for: the term sets that stand for it in either language, and its weight."""


def _weights(question: str, parts: Sequence[Unit]) -> Weights:
    """Rare things count more. A field word is one thing with its translation."""
    counts = Counter(t for u in parts for t in evidence_terms(u.text))
    things = list(translations(question))
    covered = frozenset(t for ways in things for way in ways for t in way)
    things += [frozenset((frozenset((t,)),)) for t in sorted(terms(question) - covered)]
    made: list[tuple[frozenset[frozenset[str]], float]] = []
    for ways in things:
        seen = max(min((counts[t] for t in way), default=0) for way in ways)
        weight = math.log(2 + len(parts) / (1 + seen))
        made.append((ways, weight * (_GENERIC if ways <= _GENERIC_WAYS else 1.0)))
    return made


def _covered(unit: Unit, weights: Weights) -> float:
    """The weighted part of the question that the quote holds, or its headings for less."""
    total = sum(w for _, w in weights)
    own, above = evidence_terms(unit.text), evidence_terms(unit.context)
    got = sum(w * max(_cover(ways, own), _CONTEXT * _cover(ways, above)) for ways, w in weights)
    return got / total if total else 0.0


def _cover_all(weights: Weights, text: str) -> float:
    total, found = sum(w for _, w in weights), evidence_terms(text)
    return sum(w * _cover(ways, found) for ways, w in weights) / total if total else 0.0


def _bonus(unit: Unit, asks: _Asks, title: float) -> float:
    """What else speaks for a part: its passage's score, its title, the kind of thing asked."""
    bonus = 0.2 * title + 0.12 * (_SURE if unit.shown.score is None else unit.shown.score)
    if asks.amount and numbers(unit.text):
        bonus += 0.15 if unit.kind == "row" else 0.1
    if asks.way and unit.kind == "step":
        bonus += 0.25
    return bonus + (0.3 if asks.exact & evidence_terms(unit.text) else 0.0)


def _cover(ways: frozenset[frozenset[str]], found: frozenset[str]) -> float:
    return max((len(way & found) / len(way) for way in ways if way), default=0.0)
