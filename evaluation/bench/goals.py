"""The goals of the harness bench, judged over repeats: a ratio within one run, with its spread."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.bench.peers import BARE, OURS, PEERS, Row

SLEEP_MS = 100.0
"""How long each tool of scenarios A and C takes (scenarios.py of the shared harness)."""
BUSY = 2.0
"""Above this load average of a minute a wall time says nothing."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One goal with what was measured: the middle over repeats, the least and the most.

    `values` is empty when the machine was too busy for a wall time.
    """

    goal: str
    what: str
    limit: float
    values: tuple[float, ...]
    unit: str = ""

    @property
    def word(self) -> str:
        """met; noise (only part of the interval is on the wrong side); missed; not judged."""
        if not self.values:
            return "not judged: busy machine"
        if statistics.median(self.values) <= self.limit:
            return "met"
        return "within noise" if min(self.values) <= self.limit else "missed"


def judge(rows: Sequence[Row], own: Mapping[str, Any], edge: Mapping[str, Any]) -> list[Verdict]:
    """All goals.

    Args:
        rows: what evaluation/bench/peers.py measured.
        own: what evaluation/bench/own_checks.py printed.
        edge: p95 in CPU ms of an event by platform, and `import_ratio`.
    """
    return [*_beside_peers(rows), *_own(own), *_edge(edge)]


def _beside_peers(rows: Sequence[Row]) -> list[Verdict]:
    def verdict(
        goal: str, what: str, limit: float, scenario: str, key: str, *, wall: bool = False
    ) -> Verdict:
        values = _ratios(_repeats(rows, scenario, wall=wall), lambda row: float(row[key]))
        return Verdict(goal, f"{what} / leanest peer", limit, values)

    calm = _repeats(rows, "C", wall=True)
    all_c = _repeats(rows, "C")
    p95 = tuple(r[OURS]["p95_latency_ms"] / SLEEP_MS for r in calm)
    memory = tuple(float(r[OURS]["kb_per_session"]) for r in all_c)
    return [
        verdict("P1", "C: CPU a session", 0.25, "C", "cpu_ms"),
        verdict("P2", "B: CPU a step", 0.25, "B", "cpu_per_step_ms"),
        verdict("P3", "A: wall over four sleeps", 1 / 3, "A", "overhead_ms", wall=True),
        verdict("P3", "A: CPU a turn", 0.5, "A", "cpu_ms"),
        Verdict("P5", "C: p95 of a session / tool time", 1.6, p95),
        Verdict("P5", "C: RSS over bare / leanest peer", 0.5, _over_bare(all_c)),
        Verdict("P5", "C: memory a session", 40.0, memory, "KB"),
    ]


def _own(own: Mapping[str, Any]) -> list[Verdict]:
    calm = float(own["load1"]) <= BUSY

    def wall(*values: float) -> tuple[float, ...]:
        return values if calm else ()

    growth = Verdict("P2", "CPU a step at 50 steps / at 10", 1.2, (float(own["step_growth"]),))
    fans: list[Verdict] = []
    for count, rounds in own["fan_out"].items():
        slowest = wall(*(found["over_slowest"] for found in rounds))
        bare = wall(*(found["over_bare"] for found in rounds))
        fans.append(Verdict("P4", f"{count} tools: wall / slowest tool", 1.05, slowest))
        fans.append(Verdict("P4", f"{count} tools: wall / bare gather", 1.03, bare))
    late = own["over_time"]
    return [
        growth,
        *fans,
        Verdict("P4", "a hanging tool: wall / its time-out", 1.05, wall(late["over_timeout"])),
        Verdict("P4", "a hanging tool: calls lost beside it", 0.0, (late["failed_calls"] - 1,)),
        Verdict("P5", "sessions of 1,000 that failed", 0.0, (1_000 - own["answered_of_thousand"],)),
    ]


def _edge(edge: Mapping[str, Any]) -> list[Verdict]:
    work = [
        Verdict("P7", f"{platform}: p95 of an event, CPU", 5.0, (float(edge[platform]),), "ms")
        for platform in ("feishu", "slack")
    ]
    ratio = Verdict("P6", "receiving: import CPU / lark_oapi's", 0.15, (edge["import_ratio"],))
    return [*work, ratio]


def _repeats(
    rows: Sequence[Row], scenario: str, *, wall: bool = False
) -> tuple[dict[str, Row], ...]:
    """The rows of a scenario, one mapping by framework for each repeat.

    With `wall`, without the repeats in which the machine was busy.
    """
    found: dict[int, dict[str, Row]] = {}
    for row in rows:
        if row["scenario"] == scenario:
            found.setdefault(row["repeat"], {})[row["name"]] = row
    return tuple(
        r for r in found.values() if not wall or max(x["load1"] for x in r.values()) <= BUSY
    )


def _ratios(
    repeats: Sequence[Mapping[str, Row]], value: Callable[[Row], float]
) -> tuple[float, ...]:
    return tuple(value(r[OURS]) / min(value(r[peer]) for peer in PEERS) for r in repeats)


def _over_bare(repeats: Sequence[Mapping[str, Row]]) -> tuple[float, ...]:
    found: list[float] = []
    for r in repeats:
        bare = float(r[BARE]["rss_peak_mb"])
        leanest = min(float(r[peer]["rss_peak_mb"]) for peer in PEERS)
        found.append((float(r[OURS]["rss_peak_mb"]) - bare) / (leanest - bare))
    return tuple(found)
