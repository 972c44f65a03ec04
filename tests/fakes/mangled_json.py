"""JSON as models spoil it: generated from a seed, each text with what it has to be read as."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from annotated_types import Len
from pydantic import BaseModel, Field, create_model

from agent.domain import Json


class Score(BaseModel):
    id: str
    score: float


class Route(BaseModel):
    route: Literal["search", "chat", "refuse"]
    reason: str
    confidence: float
    needs: list[str]
    urgent: bool


class Filters(BaseModel):
    space: str | None
    tags: list[str]


class Step(BaseModel):
    query: str
    top_k: int
    filters: Filters


class Plan(BaseModel):
    title: str
    steps: list[Step]
    note: str = ""


@cache
def grades(count: int) -> type[BaseModel]:
    """One grade for each of `count` texts."""
    scores = Annotated[list[Score], Len(count, count)]
    return create_model(f"Grades{count}", scores=(scores, Field()))


@dataclass(frozen=True, slots=True)
class Mangled:
    """`value` is what `text` has to be read as; None when it has lost something."""

    text: str
    kind: str
    shape: type[BaseModel]
    value: Json


WORDS = (
    "hotel limit in Shanghai", "上海的住宿标准是多少？", "VPN doesn't connect", "Dana's rota",
    'the so-called "green" list', "E-203: pump, valve", "see https://wiki.example/a?b=1#c",
    "报销{差旅}需要哪些凭证", "line one\nline two", "50 % of 1,200", "C:\\share\\plans",
    "a [draft] note", "年假：10 天", "naïve café – déjà vu", "status: open; owner: Bob", "", "yes",
    "True", "null", "1.50",
)  # fmt: skip


def corpus(count: int = 1_000, seed: int = 18) -> list[Mangled]:
    """Texts that still hold everything."""
    chance = random.Random(seed)
    return [_mangled(chance) for _ in range(count)]


def cut_off(count: int = 300, seed: int = 81) -> list[Mangled]:
    """Texts that have lost something, or may have: none of them may be read."""
    chance = random.Random(seed)
    made: list[Mangled] = []
    while len(made) < count:
        shape, value = _value(chance)
        text = _dumped(value, chance)
        kept = text[: chance.randrange(2, len(text) - 1)]
        if not _holds_all(kept, text, shape):
            made.append(Mangled(_around(kept, chance, closed=False), "cut", shape, None))
    return made


def _holds_all(kept: str, text: str, shape: type[BaseModel]) -> bool:
    """Whether only brackets are gone that nothing could have stood before."""
    gone = re.sub(r"\s", "", text[len(kept) :])
    fixed = shape.__name__.startswith("Grades")
    return not gone.strip("}]") and ("]" not in gone or fixed) and kept[-1] not in "0123456789.-"


def _value(chance: random.Random) -> tuple[type[BaseModel], Json]:
    pick = chance.choice
    match chance.randrange(3):
        case 0:
            n = chance.randrange(1, 9)
            scores: list[Json] = [
                {"id": f"d{i}", "score": round(chance.random(), chance.randrange(1, 4))}
                for i in range(n)
            ]
            return grades(n), {"scores": scores}
        case 1:
            return Route, {
                "route": pick(("search", "chat", "refuse")),
                "reason": pick(WORDS),
                "confidence": chance.choice((0, 1, 0.5, 0.25, 1e-3)),
                "needs": [pick(WORDS) for _ in range(chance.randrange(4))],
                "urgent": pick((True, False)),
            }
        case _:
            steps: list[Json] = [
                {
                    "query": pick(WORDS),
                    "top_k": chance.randrange(1, 21),
                    "filters": {
                        "space": pick((None, *WORDS)),
                        "tags": [pick(WORDS) for _ in range(chance.randrange(3))],
                    },
                }
                for _ in range(chance.randrange(1, 4))
            ]
            return Plan, {"title": pick(WORDS), "steps": steps, "note": pick(WORDS)}


def _dumped(value: Json, chance: random.Random) -> str:
    return json.dumps(
        value, ensure_ascii=chance.random() < 0.2, indent=chance.choice((None, None, 2))
    )


def _single_quotes(text: str, chance: random.Random) -> str:
    """As Python prints it: apostrophes make a string keep its double quotes."""
    del chance
    return repr(json.loads(text))


def _single_quotes_json(text: str, chance: random.Random) -> str:
    del chance

    def turned(match: re.Match[str]) -> str:
        return match[0] if "'" in match[0] or '\\"' in match[0] else f"'{match[0][1:-1]}'"

    return re.sub(r'"(?:[^"\\]|\\.)*"', turned, text)


def _outside_strings(pattern: str, new: str, text: str) -> str:
    """Every hit of the pattern (no groups in it) outside strings becomes `new` with {0} the hit."""
    return re.sub(
        rf'("(?:[^"\\]|\\.)*")|{pattern}', lambda m: m[1] or new.replace("{0}", m[0]), text
    )


def _trailing_commas(text: str, chance: random.Random) -> str:
    del chance
    return _outside_strings(r"(?<![\[{])\s*[}\]]", ",{0}", text)


def _comments(text: str, chance: random.Random) -> str:
    pretty = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    lines = pretty.split("\n")
    at = chance.randrange(1, len(lines))
    lines[at] += chance.choice(("  // as asked", " /* checked */"))
    return "\n".join(lines)


def _bare_keys(text: str, chance: random.Random) -> str:
    del chance
    return re.sub(r'(?<=[{,])(\s*)"(\w+)"(?=: )', r"\1\2", text)


def _python_literals(text: str, chance: random.Random) -> str:
    del chance
    for name, other in (("true", "True"), ("false", "False"), ("null", "None")):
        text = _outside_strings(rf"\b{name}\b", other, text)
    return text


def _raw_newlines(text: str, chance: random.Random) -> str:
    del chance
    return text.replace("\\n", "\n") if '"C:' not in text else text


def _unescaped_quotes(text: str, chance: random.Random) -> str:
    del chance
    return text.replace('\\"', '"')


def _closers_gone(text: str, chance: random.Random) -> str:
    """Without the last bracket; in a list of known length without the last three."""
    most = 3 if text.replace(" ", "").replace("\n", "").startswith('{"scores"') else 1
    for _ in range(chance.randrange(1, most + 1)):
        kept = text.rstrip()[:-1]
        if kept.rstrip()[-1:] in "0123456789":
            return text
        text = kept
    return text


MANGLINGS: dict[str, Callable[[str, random.Random], str]] = {
    "fence and prose only": lambda text, _: text,
    "single quotes": _single_quotes,
    "single quotes around JSON": _single_quotes_json,
    "trailing commas": _trailing_commas,
    "cut tail": _closers_gone,
    "comments": _comments,
    "bare keys": _bare_keys,
    "Python literals": _python_literals,
    "raw newlines": _raw_newlines,
    "unescaped quotes": _unescaped_quotes,
}


def _mangled(chance: random.Random) -> Mangled:
    shape, value = _value(chance)
    kind = chance.choice(list(MANGLINGS))
    text = MANGLINGS[kind](_dumped(value, chance), chance)
    around = _around(text, chance, closed=kind != "cut tail")
    return Mangled(around, kind, shape, value)


def _around(text: str, chance: random.Random, *, closed: bool) -> str:
    before = chance.choice(
        ("", "", "Here you go:\n", "当然，结果如下：\n", "I don't know {x} but:\n")
    )
    after = chance.choice(("", "", "\nLet me know!", "\n以上。It's done.")) if closed else ""
    if chance.random() < 0.5:
        text = f"```{chance.choice(('json', 'JSON', ''))}\n{text}" + ("\n```" if closed else "")
    return before + text + after
