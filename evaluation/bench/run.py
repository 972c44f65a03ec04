"""`make bench`: our turn beside five agent frameworks in one run; writes docs/performance.md.

    .venv/bin/python -m evaluation.bench.run [--repeats N] [--bench FOLDER] [--venvs FOLDER]

Ends with status 1 when a goal was missed by the whole interval of its repeats.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.bench import receiving, report
from evaluation.bench.goals import Verdict, judge
from evaluation.bench.peers import ROOT, Row, Unmeasured, interleaved

PAGE = ROOT / "docs" / "performance.md"
REPEATS = 3


def cache_folder() -> Path:
    """Where the frameworks' environments for this Python are kept between runs."""
    mac = Path.home() / "Library" / "Caches"
    cache = mac if sys.platform == "darwin" else Path.home() / ".cache"
    return cache / "plumbline-bench" / f"python3.{sys.version_info.minor}"


def own_figures() -> dict[str, Any]:
    """What evaluation/bench/own_checks.py measures, in a process of its own."""
    command = [sys.executable, "-m", "evaluation.bench.own_checks"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise Unmeasured(f"own checks:\n{done.stderr[-1500:]}")
    return json.loads(done.stdout)


def edge_figures() -> dict[str, float]:
    """The receiving path: work per event, and its import beside that of lark_oapi."""
    work = asyncio.run(receiving.work())
    ours = receiving.fresh(receiving.OURS)[0]
    lark = receiving.fresh("import sys\nimport lark_oapi\n")[0]
    return {**{name: found["p95"] for name, found in work.items()}, "import_ratio": ours / lark}


def measured(bench: Path, venvs: Path, repeats: int) -> tuple[list[Row], list[float]]:
    """All rows beside the peers, and the machine's load at each."""
    rows: list[Row] = []
    for row in interleaved(bench, venvs, repeats):
        rows.append(row)
        print(f"part {row['repeat'] + 1}: {row['scenario']:6} {row['name']}", flush=True)
    return rows, [float(row["load1"]) for row in rows]


def show(verdicts: Sequence[Verdict]) -> None:
    """Print the goals as they stand in the page."""
    for v in verdicts:
        values = ", ".join(f"{value:.3g}" for value in v.values) or "-"
        print(f"{v.goal:3} {v.what:44} limit {v.limit:<6.3g} {values:28} {v.word}")


def main() -> int:
    """Measure, print, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--venvs", type=Path, default=cache_folder())
    chosen = parser.parse_args()
    if not (chosen.bench / "bench_overhead.py").exists():
        print(
            f"There is no bench_overhead.py in {chosen.bench}. The harness that runs all "
            "frameworks is not part of this repository: put the shared folder beside the clone, "
            "or name its place with --bench FOLDER.",
            file=sys.stderr,
        )
        return 2
    try:
        own, edge = own_figures(), edge_figures()
        rows, loads = measured(chosen.bench, chosen.venvs, chosen.repeats)
    except Unmeasured as error:
        print(f"could not measure: {error}", file=sys.stderr)
        return 2
    verdicts = judge(rows, own, edge)
    show(verdicts)
    command = "make bench"
    if chosen.repeats != REPEATS:
        command = f"python -m evaluation.bench.run --repeats {chosen.repeats}"
    report.write(PAGE, report.section(verdicts, rows, command, [*loads, os.getloadavg()[0]]))
    print(f"written: {PAGE.relative_to(ROOT)}")
    return int(any(v.word == "missed" for v in verdicts))


if __name__ == "__main__":
    raise SystemExit(main())
