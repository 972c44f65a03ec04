"""Writes what the bench found: the tables of docs/performance.md, between their markers."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path

from evaluation.bench.goals import Verdict
from evaluation.bench.ours_harness import FEATURES
from evaluation.bench.peers import FRAMEWORKS, Row

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"

FIGURES = (
    ("import", "import_cpu_ms", "import, CPU ms"),
    ("import", "rss_mb", "memory after import, MB"),
    ("A", "overhead_ms", "A: wall over four sleeps, ms"),
    ("A", "cpu_ms", "A: CPU a turn, ms"),
    ("B", "per_step_ms", "B: wall a step, ms"),
    ("B", "cpu_per_step_ms", "B: CPU a step, ms"),
    ("C", "p95_latency_ms", "C: p95 of a session, ms"),
    ("C", "cpu_ms", "C: CPU of 200 sessions, ms"),
    ("C", "rss_peak_mb", "C: peak memory, MB"),
    ("C", "kb_per_session", "C: memory a session, KB"),
)


def section(
    verdicts: Sequence[Verdict], rows: Sequence[Row], command: str, loads: Sequence[float]
) -> str:
    """The generated part, markers included."""
    lines = [
        BEGIN,
        f"Made by `{command}` on {_machine()}; load of the minute while measuring "
        f"{min(loads):.1f} to {max(loads):.1f}. On in every figure of ours: {FEATURES}.",
        "",
        "### Goals",
        "",
        "| goal | figure | limit | measured | least to most | verdict |",
        "|---|---|---|---|---|---|",
        *(_goal_line(v) for v in verdicts),
        "",
        "### Side by side (middle over repeats)",
        "",
        *_side_by_side(rows),
        "",
        f"Versions: {_versions(rows)}.",
        END,
    ]
    return "\n".join(lines)


def write(path: Path, generated: str) -> None:
    """Put the generated part in place of the old one.

    Raises:
        ValueError: the file does not hold the two markers.
    """
    text = path.read_text("utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"{path.name} needs a line {BEGIN} and a line {END}")
    head, rest = text.split(BEGIN, 1)
    path.write_text(head + generated + rest.split(END, 1)[1], "utf-8")


def _goal_line(verdict: Verdict) -> str:
    unit = f" {verdict.unit}" if verdict.unit else ""
    measured, spread = "-", "-"
    if verdict.values:
        measured = f"{_short(statistics.median(verdict.values))}{unit}"
        spread = f"{_short(min(verdict.values))} to {_short(max(verdict.values))}"
    limit = f"{_short(verdict.limit)}{unit}"
    return f"| {verdict.goal} | {verdict.what} | {limit} | {measured} | {spread} | {verdict.word} |"


def _side_by_side(rows: Sequence[Row]) -> list[str]:
    names = [f.name for f in FRAMEWORKS]
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for scenario, key, label in FIGURES:
        cells: list[str] = []
        for name in names:
            found = [r[key] for r in rows if (r["scenario"], r["name"]) == (scenario, name)]
            cells.append(_short(statistics.median(found)) if found else "-")
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return lines


def _versions(rows: Sequence[Row]) -> str:
    known = {"adapter", "scenario", "python", "load1", "name", "repeat"}
    found: dict[str, str] = {}
    for row in rows:
        found.update({k: v for k, v in row.items() if k not in known and isinstance(v, str)})
    return ", ".join(f"{name} {version}" for name, version in sorted(found.items()))


def _machine() -> str:
    return (
        f"{os.cpu_count() or 1} {platform.machine()} cores, {platform.system()}, "
        f"Python {platform.python_version()}"
    )


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
