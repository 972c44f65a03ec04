"""Amounts in a text, comparable across languages, and which kind of amount is asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "twelve": 12, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5,
    "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "半": 0.5, "half": 0.5,
}  # fmt: skip
_N = (
    r"(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\b(?:"
    + "|".join(w for w in _WORDS if w.isascii())
    + r")\b|[一二两三四五六七八九十半])"
)
_UNITS: dict[str, tuple[str, float, str]] = {
    "second": ("time", 1, r"seconds?\b|s\b|秒"),
    "minute": ("time", 60, r"minutes?\b|min\b|分钟|分(?![之级])"),
    "hour": ("time", 3600, r"hours?\b|h\b|个?(?:小时|钟头)"),
    "day": (
        "time",
        86400,
        r"(?:full |working |calendar |business )*days?\b|个?(?:工作日|自然日|日历天)|天",
    ),
    "week": ("time", 604800, r"weeks?\b|周|个?星期"),
    "month": ("time", 2592000, r"(?:full )?months?\b|个月"),
    "year": ("time", 31536000, r"years?\b|年(?![假度月级前初底末内])(?!\s?\d)"),
    "eur": ("money", 1, r"欧元|euros?\b|EUR\b"),
    "usd": ("money", 1, r"美元|dollars?\b|USD\b"),
    "cny": ("money", 1, r"元|yuan\b|CNY\b"),
    "wan": ("money", 10000, r"万元"),
    "nm": ("torque", 1, r"N·m|Nm\b|牛·?米"),
    "kg": ("mass", 1000, r"kg\b|公斤|千克"),
    "g": ("mass", 1, r"g\b|克"),
    "t": ("mass", 1000000, r"t\b|tonnes?\b|吨"),
    "character": ("length", 1, r"(?:random )?characters?\b|字符|位"),
    "mm": ("length", 1, r"mm\b|毫米"),
    "cm": ("length", 10, r"cm\b|厘米"),
    "km": ("length", 1000000, r"km\b|公里"),
    "m": ("length", 1000, r"m\b(?!²)|米"),
    "gb": ("memory", 1024, r"GB\b"),
    "mb": ("memory", 1, r"MB\b"),
    "tb": ("memory", 1048576, r"TB\b"),
    "percent": ("share", 1, r"%|per cent"),
}
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_AMOUNT = re.compile(
    _N + r"\s?-?(?:" + "|".join(f"(?P<{u}>{p})" for u, (_, _, p) in _UNITS.items()) + ")", re.I
)
_BEFORE = re.compile(r"(?P<unit>CNY|EUR|USD|RMB|€|\$|¥)\s?(?P<n>\d[\d,]*(?:\.\d+)?)")
_SIGNS = {"rmb": "cny", "¥": "cny", "€": "eur", "$": "usd"}
_CLOCK = re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?!\d)")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}|\d{1,2} ?月 ?\d{1,2} ?日|\d{1,2}(?:st|nd|rd|th)\b|last working day"
    r"|每月\s?\d+"
    rf"|\b\d{{1,2}} (?:{_MONTHS})\b|\b(?:{_MONTHS}) \d{{1,2}}\b",
    re.I,
)
_HEADER = re.compile(r"\((CNY|EUR|USD)\)")
_LARGE = re.compile(r"(?<![\d,])\d{1,3}(?:,\d{3})+")
"""Sums in a column whose name holds the currency."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


RARE_KINDS = frozenset({"torque", "mass", "length", "memory"})
"""Kinds that a document seldom has two of; the others are everywhere."""


class Value(NamedTuple):
    """What kind of amount, in which unit it is written, and its size in the kind's own unit."""

    kind: str
    unit: str
    size: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """The kinds of amounts that answer a question, and its unit when it names one; () for others.

    `any_number` says that every number will do, `afternoon` that the time is after noon,
    `span` that it opens or ends something.
    """

    kinds: frozenset[str] = frozenset()
    unit: str = ""
    any_number: bool = False
    afternoon: bool = False
    span: bool = False

    @property
    def something(self) -> bool:
        """Whether an amount is asked for at all."""
        return bool(self.kinds) or self.any_number


@lru_cache(maxsize=4096)
def values(text: str) -> frozenset[Value]:
    """All amounts of a text."""
    found: set[Value] = set()
    for match in _AMOUNT.finditer(text):
        unit = match.lastgroup or ""
        kind, factor, _ = _UNITS[unit]
        name = "cny" if unit == "wan" else unit
        currency = f"{name} " if kind == "money" else ""
        found.add(Value(kind, name, f"{currency}{_size(match['n']) * factor:g}"))
    for match in _BEFORE.finditer(text):
        unit = _SIGNS.get(match["unit"].lower(), match["unit"].lower())
        found.add(Value("money", unit, f"{unit} {_size(match['n']):g}"))
    found |= {Value("clock", "", f"{int(h)}:{m}") for h, m in _CLOCK.findall(text)}
    found |= {Value("date", "", "".join(d.lower().split())) for d in _DATE.findall(text)}
    if not any(v.kind == "money" for v in found) and (header := _HEADER.search(text)):
        unit = header[1].lower()
        found |= {Value("money", unit, f"{unit} {_size(n):g}") for n in _LARGE.findall(text)}
    return frozenset(found)


def _size(number: str) -> float:
    word = _WORDS.get(number.lower())
    return float(number.replace(",", "")) if word is None else float(word)


_ASKS: tuple[tuple[str, str, str], ...] = (
    (r"how many seconds|多少秒|几秒", "time", "second"),
    (r"how many minutes|多少分钟|几分钟", "time", "minute"),
    (r"how many hours|多少(?:个)?小时|几(?:个)?小时", "time", "hour"),
    (r"how many (?:\w+ )?days|多少天|几天|几个工作日", "time", "day"),
    (r"how many weeks|几周|几个星期|多少周", "time", "week"),
    (r"how many months|几个月|多少个月", "time", "month"),
    (r"how many years|几年|多少年", "time", "year"),
    (r"how long (?:does|do|must|should|has|have) .*\bbe\b|长度", "length", ""),
    (r"how long|多长", "time length", ""),
    (r"多久|how (?:early|soon|quick|fast)|deadline|期限|notice period|时限|period", "time", ""),
    (r"几点|what time|opening hours|开门|关门", "clock", ""),
    (r"\bwhen\b|什么时候|何时|哪天|哪一天|几号|到什么时候", "clock date time", ""),
    (
        r"多少钱|价格|\bprice|\bcosts?\b|salary|租金|how much (?:is|are|do|does|can|money)",
        "money",
        "",
    ),
    (r"torque|扭矩|力矩", "torque", ""),
    (r"how heavy|weight|多重|重量|载荷|payload|\blift\b|rated load", "mass", ""),
    (r"how (?:tall|wide|deep|high|far)|多高|多宽|多远|\breach\b|臂展", "length", ""),
    (r"memory|内存|\bram\b", "memory", ""),
    (r"percent|百分之|比例", "share", ""),
)
_ANY = re.compile(
    r"how (?:many|much)|多少|几(?:个|台|次|间|人|位|层)|limit|ceiling|上限|标准|限额|maximum|number"
    r"|号码|factor|系数",
    re.I,
)


_LATE = re.compile(r"下午|晚上|傍晚|afternoon|evening|at night", re.I)
_SPAN = re.compile(r"结束|到几点|关门|几点开|开门|until|\bends?\b|\bclos|opening|\bopen\b", re.I)
_KIND_WORDS = {
    "clock": r"下午|晚上|afternoon|evening|开门|关门|结束|开始|开放"
    r"|open|opening|close|closing|ends?|starts?",
    "money": r"价格|价钱|定价|多少钱|price|costs?",
    "torque": r"扭矩|力矩|拧紧力矩|torque",
    "time": r"期限|时限|时间|deadline|period|fast|quick|soon|early|last|ahead|提前",
    "mass": r"heavy",
}


def is_kind_word(word: str, want: Wanted) -> bool:
    """Whether a word of the question only names the kind of amount: torque, price, opening."""
    patterns = [_KIND_WORDS[kind] for kind in want.kinds if kind in _KIND_WORDS]
    return any(re.fullmatch(pattern, word, re.I) for pattern in patterns)


@lru_cache(maxsize=256)
def wanted(question: str) -> Wanted:
    """What kind of amount a question asks for."""
    for pattern, kinds, unit in _ASKS:
        if re.search(pattern, question, re.I):
            late = bool(_LATE.search(question))
            return Wanted(
                frozenset(kinds.split()), unit, afternoon=late, span=bool(_SPAN.search(question))
            )
    return Wanted(frozenset(), "", bool(_ANY.search(question)))


def answering(text: str, want: Wanted) -> frozenset[Value]:
    """The amounts of a text that are of a kind that is asked for; all of them for any number."""
    found = values(text)
    return found if want.any_number else frozenset(v for v in found if v.kind in want.kinds)


def fit(text: str, want: Wanted) -> float:
    """How well the amounts of a text fit: 1.0 the unit or kind asked for, 0.5 near it, 0.0 none."""
    if not want.something:
        return 0.0
    found = answering(text, want)
    clocks = [int(v.size.split(":")[0]) for v in found if v.kind == "clock"]
    if want.afternoon and clocks and max(clocks) < 13:
        return 0.0
    if want.span and len(clocks) == 1 and not _SPAN.search(text):
        return 0.4
    if want.any_number:
        return 1.0 if found else 0.6 if _NUMBER.search(text) else 0.0
    if not found:
        return 0.0
    return 1.0 if not want.unit or any(v.unit == want.unit for v in found) else 0.5


def outside(cell: str, value: Value) -> bool:
    """Whether a cell names a range of this kind of amount that the value is not in."""
    within = _within(cell, value)
    return within is False


def inside(cell: str, value: Value) -> bool:
    """Whether a cell names a range of this kind of amount that the value is in."""
    return _within(cell, value) is True


def _within(cell: str, value: Value) -> bool | None:
    """None when the cell names no range of this kind."""
    if value.kind not in _MEASURED:
        return None
    found = [_between(cell, m) for m in _AMOUNT.finditer(cell) if _kind(m) == value.kind]
    bounds = [bound for bound in found if bound != _ANYTHING]
    size = float(value.size.split()[-1])
    return all(low <= size < high for low, high in bounds) if bounds else None


_ANYTHING = (0.0, float("inf"))
_MEASURED = frozenset(kind for kind, _, _ in _UNITS.values())
_LESS = re.compile(r"(?:不满|不足|少于|低于|under|below|less than|up to)\s*$", re.I)
_MORE = re.compile(r"^\s*(?:及)?以上|^\s*(?:and|or) (?:more|over|above)|^\+", re.I)
_OVER = re.compile(r"(?:满|超过|over|above|more than|from|at least)\s*$", re.I)


def _kind(match: re.Match[str]) -> str:
    return _UNITS[match.lastgroup or ""][0]


def _between(cell: str, match: re.Match[str]) -> tuple[float, float]:
    """What one amount of a range says: its lower and its upper bound."""
    size = _size(match["n"]) * _UNITS[match.lastgroup or ""][1]
    before, after = cell[: match.start()], cell[match.end() :]
    if _LESS.search(before):
        return 0.0, size
    if _MORE.search(after) or _OVER.search(before):
        return size, float("inf")
    return _ANYTHING
