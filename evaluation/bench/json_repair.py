"""P18: how much spoiled JSON is read, how much of it wrongly, at what CPU, beside json-repair.

Run from the repository root: `.venv/bin/python -m evaluation.bench.json_repair [--seed N]`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import json_repair
from pydantic import BaseModel

from agent.models.structured import Reader, UnreadableReply
from tests.fakes.mangled_json import Mangled, corpus, cut_off

COUNT = 1_000
LEAST_READ = 0.99
MOST_MS = 0.2
RUNS = 3


@dataclass(slots=True)
class Score:
    """What one way of reading came to; times are CPU milliseconds a text."""

    read: int = 0
    wrong: int = 0
    invented: int = 0
    unread: Counter[str] = field(default_factory=Counter[str])
    times: list[float] = field(default_factory=list[float])

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.times, n=20)[-1]


Read = Callable[[Mangled], BaseModel | None]


def ours() -> Read:
    readers: dict[str, Reader[BaseModel]] = {}

    def read(case: Mangled) -> BaseModel | None:
        name = case.shape.__name__
        if name not in readers:
            readers[name] = Reader(case.shape)
        try:
            return readers[name].read(case.text)
        except UnreadableReply:
            return None

    return read


def theirs(case: Mangled) -> BaseModel | None:
    """json-repair alone, then pydantic."""
    try:
        return case.shape.model_validate(json_repair.loads(case.text))
    except (ValueError, RecursionError):
        return None


def measure(read: Read, whole: list[Mangled], lost: list[Mangled]) -> Score:
    score = Score()
    for case in whole:
        read(case)  # the first use of a shape builds its reader
        spent: list[float] = []
        found: BaseModel | None = None
        for _ in range(RUNS):
            begun = time.process_time_ns()
            found = read(case)
            spent.append((time.process_time_ns() - begun) / 1e6)
        score.times.append(min(spent))
        if found is None:
            score.unread[case.kind] += 1
        elif found == case.shape.model_validate(case.value):
            score.read += 1
        else:
            score.wrong += 1
    score.invented = sum(read(case) is not None for case in lost)
    return score


def report(seed: int = 18) -> tuple[Score, Score]:
    """Ours and json-repair alone, on the same texts."""
    whole, lost = corpus(COUNT, seed), cut_off(seed=seed + 1)
    return measure(ours(), whole, lost), measure(theirs, whole, lost)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=18)
    seed = cast("int", parser.parse_args().seed)
    scores = report(seed)
    print(f"{COUNT} spoiled texts and 300 that lost something, seed {seed}; CPU ms a text")
    print("| | read | wrong | lost ones read | median | p95 |")
    print("|---|---|---|---|---|---|")
    for name, s in zip(("four steps, first three", "json-repair alone"), scores, strict=True):
        read = f"{100 * s.read / COUNT:.1f} %"
        print(f"| {name} | {read} | {s.wrong} | {s.invented} | {s.median:.3f} | {s.p95:.3f} |")
        if s.unread:
            print(f"not read: {dict(s.unread)}", file=sys.stderr)
    mine = scores[0]
    good = mine.read >= LEAST_READ * COUNT and not mine.wrong and not mine.invented
    return 0 if good and mine.median <= MOST_MS else 1


if __name__ == "__main__":
    sys.exit(main())
