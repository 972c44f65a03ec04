"""How well each part of the shown passages answers a question: words, names, kind of amount."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.domain import Language
from agent.language import detect
from agent.models.offline.glossary import wider
from agent.models.offline.passages import Shown, Unit, units
from agent.models.offline.terms import (
    GENERIC,
    Thing,
    evidence_terms,
    exact_tokens,
    places_in,
    things,
)
from agent.models.offline.values import Wanted, fit, inside, is_kind_word, outside, values, wanted

# Weights below were set by hand on the sample company's questions.
_CONTEXT = 0.8
"""What a word counts that stands in the headings above a part, not in the part."""
_ELSEWHERE = 0.25
_NAMED_ELSEWHERE = 0.5
"""What a word or name counts in a part that does not have it, but whose document does."""
_MOST_OF_A_NAME = 0.6
_GENERIC = 0.3
_NAMED = 1.8
_SCORE = 0.2
_LANGUAGE = 0.15
_AMOUNT = 0.35
_STEP = 0.2
_TITLE = 0.2
_RANGE = 0.3
_HISTORY = 0.25
"""What a report of something that happened loses when the question is not about the past."""
_TALK = 0.25
"""What a chat or a meeting gains when the question is what people decided."""
_KIND_WORD = 0.6
_ASIDE = 0.4
"""What a word counts that a listed answer has, but not the question above it."""

_HOW_TO = re.compile(r"\bhow (?:do|can|should|to)\b|\bsteps?\b|怎么(?!办)|如何|怎样|步骤", re.I)
_PAST = re.compile(
    r"\b(?:did|was|were|happened|why|cause|incident)\b|INC-|原因|那次|事故|为什么|为何|发生", re.I
)
_DECISION = re.compile(r"\bdecid|\bdecision|\bagreed?\b|决定|商定|定在|定于|定了|敲定", re.I)
_GENERIC_WAYS = frozenset(frozenset((t,)) for t in GENERIC)
_PAGE = re.compile(r"Page \d+ of \d+")


@dataclass(frozen=True, slots=True)
class Rated:
    """A part and its marks.

    `covered` is the share of the question that the part and its document hold, `said` that of the
    part and its headings alone; `fit` how its amounts fit; `score` is for the order.
    """

    unit: Unit
    covered: float
    said: float
    fit: float
    score: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart."""

    text: str
    things: tuple[Thing, ...]
    want: Wanted
    language: Language
    steps: bool


def ask(question: str) -> Asked:
    """Take a question apart."""
    steps = bool(_HOW_TO.search(question)) and not exact_tokens(question)
    return Asked(question, things(question), wanted(question), detect(question), steps)


def rate(asked: Asked, passages: Sequence[Shown]) -> list[Rated]:
    """The parts that can answer with their marks, the best first; equal marks keep their order.

    A part of another place than the one asked for can not answer, nor one of a document that has
    nothing of a code or place that is asked for.
    """
    parts = list(all_units(passages))
    scores = _scores(passages)
    weights = _weights(asked, parts)
    spoken = _by_source(passages)
    kept = _of_the_place(asked, _with_codes(asked, parts), spoken)
    around = {source: evidence_terms(text) for source, text in spoken.items()}
    rated = [_rated(asked, u, weights, scores, around[u.shown.source]) for u in kept]
    return sorted(rated, key=lambda r: -r.score)


def all_units(passages: Sequence[Shown]) -> Iterable[Unit]:
    """The parts of all passages, each text of a document once; a document read whole goes first."""
    whole = {p.source for p in passages if _PAGE.fullmatch(p.place)}
    seen: set[tuple[str, str, str]] = set()
    for p in sorted(passages, key=lambda p: not _PAGE.fullmatch(p.place)):
        for unit in units(p):
            key = (p.source, unit.text, unit.heading if p.source in whole else "")
            if (p.source, unit.text) in {k[:2] for k in seen}:
                continue
            seen.add(key)
            yield unit


def coverage(asked: Asked, text: str, weights: Mapping[Thing, float]) -> float:
    """The weighted share of the question's things that a text holds."""
    found, total = evidence_terms(text), sum(weights.values())
    got = sum(w * cover(thing, found) for thing, w in weights.items())
    return got / total if total else 0.0


def cover(thing: Thing, found: frozenset[str]) -> float:
    """How much of a thing's best name is among these terms."""
    best = max((len(way & found) / len(way) for way in thing.ways if way), default=0.0)
    return best if best >= _MOST_OF_A_NAME else 0.0


def weights_of(asked: Asked, passages: Sequence[Shown]) -> Mapping[Thing, float]:
    """How much each thing of the question tells among the parts that were shown."""
    return _weights(asked, list(all_units(passages)))


def _rated(
    asked: Asked,
    unit: Unit,
    weights: Mapping[Thing, float],
    scores: Mapping[str, float],
    around: frozenset[str],
) -> Rated:
    fits = 0.0 if _beside_the_range(asked, unit) else fit(unit.text, asked.want)
    total, got, said = sum(weights.values()), 0.0, 0.0
    for thing, weight in weights.items():
        here = _held(thing, unit)
        if is_kind_word(thing.said, asked.want):
            here = max(here, _KIND_WORD * fits)
        else:
            said += weight * here
        elsewhere = _NAMED_ELSEWHERE if thing.sure else _ELSEWHERE
        got += weight * max(here, elsewhere * (1.0 if thing.place else cover(thing, around)))
    covered, said = (got / total, said / total) if total else (0.0, 0.0)
    title = coverage(asked, unit.shown.title, weights)
    score = covered + _AMOUNT * fits + _SCORE * scores.get(unit.shown.source, 0.5) + _TITLE * title
    if detect(unit.shown.title + unit.text) == asked.language:
        score += _LANGUAGE
    if asked.steps and unit.kind == "step":
        score += _STEP
    if fits and unit.kind == "row" and any(inside(unit.key, v) for v in values(asked.text)):
        score += _RANGE
    if unit.shown.sort == "incident" and not _PAST.search(asked.text):
        score -= _HISTORY
    if unit.shown.sort in {"message", "minutes"} and _DECISION.search(asked.text):
        score += _TALK
    return Rated(unit, covered, said, fits, score)


def _held(thing: Thing, unit: Unit) -> float:
    """How far a part itself says a thing: in its words, else above it.

    What a listed answer is about is said by its question.
    """
    own = cover(thing, evidence_terms(unit.text))
    if unit.asked and not thing.sure:
        own = max(cover(thing, evidence_terms(unit.asked)), _ASIDE * own)
    return max(own, _CONTEXT * cover(thing, evidence_terms(unit.context)))


def _beside_the_range(asked: Asked, unit: Unit) -> bool:
    """Whether a row is for another range of the amount that the question names."""
    return unit.kind == "row" and any(outside(unit.key, v) for v in values(asked.text))


def _weights(asked: Asked, parts: Sequence[Unit]) -> Mapping[Thing, float]:
    """Rare things and names count more, words that every document has less."""
    counts = Counter(t for u in parts for t in evidence_terms(f"{u.text} {u.shown.title}"))
    made: dict[Thing, float] = {}
    for thing in asked.things:
        seen = max(min((counts[t] for t in way), default=0) for way in thing.ways)
        weight = math.log(2 + len(parts) / (1 + seen))
        weight *= _GENERIC if thing.ways <= _GENERIC_WAYS else 1.0
        if thing.concept is None and not thing.said.isascii():
            weight *= 0.6
        made[thing] = weight * (_NAMED if thing.sure and not thing.place else 1.0)
    return made


def _scores(passages: Sequence[Shown]) -> Mapping[str, float]:
    """Each document's best passage score; a whole document has none of its own."""
    best: dict[str, float] = {}
    for p in passages:
        if p.score is not None and not _PAGE.fullmatch(p.place):
            best[p.source] = max(best.get(p.source, 0.0), p.score)
    return best


def _by_source(passages: Sequence[Shown]) -> Mapping[str, str]:
    """All that was shown of each document."""
    texts: dict[str, list[str]] = {}
    for p in passages:
        texts.setdefault(p.source, [p.title]).append(f"{p.place} {p.text}")
    return {source: "\n".join(parts) for source, parts in texts.items()}


def _with_codes(asked: Asked, parts: Sequence[Unit]) -> list[Unit]:
    """Only parts that have the codes asked for, in themselves or above; as many as any part has."""
    codes = exact_tokens(asked.text)
    if not codes:
        return list(parts)
    held = [(len(codes & evidence_terms(f"{u.context} {u.text}")), u) for u in parts]
    most = max((n for n, _ in held), default=0)
    return [u for n, u in held if n == most] if most else []


def _of_the_place(asked: Asked, parts: Sequence[Unit], spoken: Mapping[str, str]) -> list[Unit]:
    """Parts that name the place asked for; else parts without a place in documents that do."""
    wanted_places = [t.concept for t in asked.things if t.place and t.concept]
    if not wanted_places:
        return list(parts)
    near = {above for place in wanted_places for above in wider(place)}
    exact = set(wanted_places)
    kept: list[Unit] = []
    for unit in parts:
        own = places_in(unit.text) or places_in(unit.context)
        if own & exact or (own & near) or (not own and places_in(spoken[unit.shown.source]) & near):
            kept.append(unit)
    return kept
