"""Which parts of the shown passages answer a question, what contradicts them, what is void."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.language import detect
from agent.models.offline.passages import Shown, Unit
from agent.models.offline.rating import Asked, Rated, all_units, ask, coverage, rate, weights_of
from agent.models.offline.terms import (
    evidence_terms,
    exact_tokens,
    numbers,
    places_in,
    terms,
)
from agent.models.offline.values import RARE_KINDS, answering

MOST_QUOTES = 3
MOST_SET_ASIDE = 1
MOST_STEPS = 10
"""A list of steps is quoted whole up to this length."""

# Limits below were set by hand on the sample company's questions.
_LEAST = 0.5
_LEAST_WITH_AMOUNT = 0.45
_SURE = 0.68
"""From this coverage on nothing has to be read closer."""
_ALSO_SAID = 0.85
_LEVEL = 0.99
_NEAR = 0.92
_ALSO = 0.68
_ALSO_RARE = 0.6
"""How much of what the answer says a part of another document must say to be held against it."""
_SAME = 0.6
_ALIKE = 0.85
_STEPS = 0.6

_PARTS = re.compile(
    r",?\s+and (?=(?:what|when|how|where|who|which|why|is|are|does|do|can)\b)"
    r"|[，,；;](?=.*(?:多|几|什么|哪|怎|吗))",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is quoted in order; obsolete sources that were set aside; quotes that contradict.

    `sure` says that reading the documents in full would not help.
    """

    quotes: tuple[Unit, ...] = ()
    set_aside: tuple[Shown, ...] = ()
    conflict: tuple[Unit, Unit] | None = None
    steps: bool = False
    sure: bool = False


def asks_for_steps(question: str) -> bool:
    """Whether the question asks for a way to do something."""
    return ask(question).steps


def choose(question: str, passages: Sequence[Shown]) -> Choice:
    """The parts that answer; nothing quoted when none does."""
    clauses = [part for part in _PARTS.split(question) if part and terms(part)]
    if len(clauses) < 2:
        return _choose(ask(question), passages)
    whole = ask(question)
    chosen = [_choose(_clause(whole, part), passages) for part in clauses]
    answered = [c for c in chosen if c.quotes]
    if not answered:
        return _choose(whole, passages)
    quotes = [u for c in answered for u in (c.conflict or c.quotes[:1])]
    return Choice(
        _together(tuple(dict.fromkeys(quotes))),
        answered[0].set_aside,
        sure=all(c.sure for c in chosen),
    )


def _clause(whole: Asked, part: str) -> Asked:
    """A part of a question; what is named elsewhere in it is what the part is about."""
    own = ask(part)
    about = tuple(t for t in whole.things if t.sure)
    return replace(own, things=tuple(dict.fromkeys((*own.things, *about))))


def _choose(asked: Asked, passages: Sequence[Shown]) -> Choice:
    rated = [r for r in rate(asked, passages) if _answers(asked, r)]
    if not rated:
        return Choice()
    current = [r for r in rated if not r.unit.shown.obsolete]
    if not current or current[0].score < _SAME * rated[0].score:
        return Choice(_best(asked, rated))
    best = current[0]
    aside = _set_aside(asked, rated, best)
    if asked.steps and (steps := _steps(asked, current, passages)):
        return Choice(steps, aside, None, True, True)
    sure = best.covered >= _SURE and not asked.want.something and not asked.steps
    return Choice(_best(asked, current), aside, _conflict(asked, current), sure=sure)


def _answers(asked: Asked, rated: Rated) -> bool:
    """Whether a part says enough of what is asked, an amount when one is asked for."""
    if asked.want.kinds and rated.fit:
        return rated.covered >= _LEAST_WITH_AMOUNT
    return rated.covered >= _LEAST + (0.1 if asked.want.something else 0.0)


def _set_aside(asked: Asked, rated: Sequence[Rated], best: Rated) -> tuple[Shown, ...]:
    """Obsolete sources that would have been quoted too and that say something else."""
    said = answering(best.unit.text, asked.want) or numbers(best.unit.text)
    near: dict[str, Shown] = {}
    for r in rated:
        shown = r.unit.shown
        other = answering(r.unit.text, asked.want) or numbers(r.unit.text)
        if (
            shown.obsolete
            and r.score >= _NEAR * best.score
            and detect(shown.title) == detect(best.unit.shown.title)
            and other != said
        ):
            near.setdefault(shown.source, shown)
    return tuple(near.values())[:MOST_SET_ASIDE]


def _best(asked: Asked, rated: Sequence[Rated]) -> tuple[Unit, ...]:
    """The best and what comes close to it, nothing twice.

    Where one amount is asked for, one part is enough, unless others of its table stand level.
    """
    first, chosen = rated[0], list[Unit]()
    single = first.fit == 1.0 and (bool(asked.want.kinds) or first.unit.kind == "row")
    for r in rated:
        if len(chosen) == MOST_QUOTES or r.score < (_LEVEL if single else _NEAR) * first.score:
            break
        beside = (r.unit.shown, r.unit.group) == (first.unit.shown, first.unit.group)
        if r.covered < _ALSO_SAID * first.covered or r.fit < first.fit or (single and not beside):
            continue
        if not any(_repeats(r.unit, c) for c in chosen):
            chosen.append(r.unit)
    return _together(tuple(chosen))


def _together(chosen: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """Quotes of one document beside each other, documents in order of their first quote."""
    order = [c.shown.source for c in chosen]
    return tuple(sorted(chosen, key=lambda u: order.index(u.shown.source)))


def _repeats(unit: Unit, said: Unit) -> bool:
    """Whether the part says what was said: in nearly the same words, or in the other language."""
    if _alike(unit.text, said.text) >= _ALIKE and numbers(unit.text) == numbers(said.text):
        return True
    translated = detect(unit.text) != detect(said.text)
    return translated and bool(numbers(unit.text) & numbers(said.text))


def _steps(asked: Asked, rated: Sequence[Rated], passages: Sequence[Shown]) -> tuple[Unit, ...]:
    """The whole numbered list that covers the question best, by its steps and its headings."""
    weights = weights_of(asked, passages)
    groups: dict[tuple[str, int, str], list[Unit]] = {}
    for unit in all_units([p for p in passages if not p.obsolete]):
        if unit.kind == "step":
            groups.setdefault((unit.shown.source, unit.group, unit.heading), []).append(unit)
    marked: list[tuple[float, int, tuple[Unit, ...]]] = []
    known = {r.unit.shown.source for r in rated}
    for n, group in enumerate(groups.values()):
        if not 1 < len(group) <= MOST_STEPS or group[0].shown.source not in known:
            continue
        covered = coverage(asked, f"{group[0].context} {' '.join(u.text for u in group)}", weights)
        same = 0.15 if detect(group[0].text + group[0].shown.title) == asked.language else 0.0
        heading = coverage(asked, group[0].heading, weights)
        if covered >= _STEPS:
            marked.append((covered + same + 0.5 * heading, -n, tuple(group)))
    return max(marked)[2] if marked else ()


def _conflict(asked: Asked, rated: Sequence[Rated]) -> tuple[Unit, Unit] | None:
    """Two current sources that give other amounts of the kind asked for, in any language.

    Each document speaks with its best part only, and that has to say as much of the question.
    """
    first, others = rated[0], {r.unit.shown.source: r for r in reversed(rated)}
    if not first.fit or len(_best(asked, rated)) > 1:
        return None
    also = _ALSO_RARE if asked.want.kinds and asked.want.kinds <= RARE_KINDS else _ALSO
    for other in sorted(others.values(), key=lambda r: -r.score):
        history = other.unit.shown.sort == "incident" and first.unit.shown.sort != "incident"
        same = other.unit.shown.source == first.unit.shown.source
        if same or history or other.fit < first.fit:
            continue
        if 0 < also * first.said <= other.said and _contradict(asked, first.unit, other.unit):
            return first.unit, other.unit
    return None


def _contradict(asked: Asked, a: Unit, b: Unit) -> bool:
    """Whether two parts about the same place and row have amounts of one kind, none in common."""
    here, there = answering(a.text, asked.want), answering(b.text, asked.want)
    kinds = {v.kind for v in here} & {v.kind for v in there}
    sizes = {(v.kind, v.size) for v in here} & {(v.kind, v.size) for v in there}
    at, or_at = places_in(f"{a.context} {a.text}"), places_in(f"{b.context} {b.text}")
    same_place = bool(at & or_at) or not (at or or_at)
    same_row = not (a.key and b.key and detect(a.key) == detect(b.key))
    return (
        bool(kinds)
        and not sizes
        and same_place
        and not _of_other_things(a, b)
        and (same_row or bool(terms(a.key) & terms(b.key)))
    )


def _of_other_things(a: Unit, b: Unit) -> bool:
    """Whether one part names a product or code and the other, with its headings, none of it."""
    for one, other in ((a, b), (b, a)):
        codes = {c for c in exact_tokens(one.text) if not c.isdigit()}
        if codes and not codes & evidence_terms(f"{other.context} {other.text}"):
            return True
    return False


def _alike(a: str, b: str) -> float:
    """Shared terms of two quotes, numbers aside, as a part of all their terms."""
    left = {t for t in terms(a) if not t[0].isdigit()}
    right = {t for t in terms(b) if not t[0].isdigit()}
    if a == b:
        return 1.0
    return len(left & right) / max(1, len(left | right))
