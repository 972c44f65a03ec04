"""Measures the receiving path: import with the first client against lark_oapi, and work per event.

Run from the repository root: `.venv/bin/python -m evaluation.bench.receiving [--no-lark]`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time

from agent.stores.memory import MemoryQueue
from agent.stores.memory_table import MemoryTable
from handlers import feishu, receiving, slack
from handlers.wiring import Receiving
from tests.fakes import platform_samples as samples
from tests.fakes.clock import CountingIds, FakeClock

EVENTS = 1_000
REPEATS = 0.1
RUNS = 3
OURS = """
import time, sys
import handlers.feishu
from handlers import wiring
from handlers.settings import Settings
wiring.receiving(Settings(home=sys.argv[1]))
"""
TAIL = """
import json, resource
usage = resource.getrusage(resource.RUSAGE_SELF)
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if "VmHWM" in line)
print(json.dumps([(usage.ru_utime + usage.ru_stime) * 1000, peak / 1024, len(sys.modules)]))
"""


def fresh(script: str) -> list[float]:
    """CPU ms, RSS MB and modules of a fresh interpreter, the middle of some runs."""
    runs: list[list[float]] = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", script + TAIL, home],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            runs.append(json.loads(done.stdout))
    return sorted(runs)[RUNS // 2]


async def work() -> dict[str, dict[str, float]]:
    """CPU ms per event by platform, on stores in memory: middle, 95th percentile."""
    chance = random.Random(1)
    clock = FakeClock(float(samples.NOW))
    queue = MemoryQueue(clock, CountingIds())
    store = Receiving(MemoryTable(), queue, clock)
    found: dict[str, dict[str, float]] = {}
    for edge in (feishu.EDGE, slack.EDGE):
        sent: list[dict[str, object]] = []
        times: list[float] = []
        for n in range(EVENTS):
            repeated = bool(sent) and chance.random() < REPEATS
            event = chance.choice(sent) if repeated else _event(edge.platform, n)
            sent.append(event)
            start = time.process_time()
            answer = await receiving.respond(event, edge, samples.SAMPLES, lambda _: store)
            times.append((time.process_time() - start) * 1000)
            if answer.status != 200:
                raise SystemExit(f"{edge.platform}: {answer}")
        rings = len(await queue.receive(2 * EVENTS))
        cuts = statistics.quantiles(times, n=100)
        found[edge.platform] = {"p50": cuts[49], "p95": cuts[94], "max": max(times), "turns": rings}
    return found


def refusals() -> float:
    """Middle wall ms of a refused request."""
    times: list[float] = []
    store = Receiving(MemoryTable(), MemoryQueue(FakeClock(), CountingIds()), FakeClock())

    async def run() -> None:
        for n in range(EVENTS):
            event = _event("feishu", n)
            start = time.perf_counter()
            await receiving.respond(event, feishu.EDGE, samples.SAMPLES, lambda _: store)
            times.append((time.perf_counter() - start) * 1000)

    asyncio.run(run())
    return statistics.median(times)


def _event(platform: str, n: int) -> dict[str, object]:
    if platform == "feishu":
        payload = samples.sample("feishu", "message_text_p2p")["payload"]
        payload["event"]["message"]["message_id"] = f"om_{n:08d}"
        payload["header"]["event_id"] = f"ev{n:08d}"
        return samples.feishu(payload)
    payload = samples.sample("slack", "message_im")["payload"]
    payload["event"]["ts"] = f"1767225599.{n:06d}"
    payload["event_id"] = f"Ev{n:08d}"
    return samples.slack(payload)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-lark", action="store_true", help="leave out the slow comparison")
    arguments = parser.parse_args()
    ours = fresh(OURS)
    bare = fresh("import sys\n")
    print(f"import and first client: {ours[0]:.0f} ms CPU, {ours[1]:.0f} MB, {ours[2]:.0f} modules")
    print(f"bare interpreter:        {bare[0]:.0f} ms CPU, {bare[1]:.0f} MB")
    if not arguments.no_lark:
        lark = fresh("import sys\nimport lark_oapi\n")
        print(f"import lark_oapi:        {lark[0]:.0f} ms CPU, {lark[1]:.0f} MB; ours / theirs = "
              f"{ours[0] / lark[0]:.3f} (goal <= 0.15)")  # fmt: skip
    for platform, figures in asyncio.run(work()).items():
        shown = ", ".join(f"{name} {value:.2f}" for name, value in figures.items())
        print(f"{platform} work per event, CPU ms: {shown} (goal p95 <= 5)")
    print(f"refusal, wall ms: p50 {refusals():.2f} (goal <= 1)")


if __name__ == "__main__":
    main()
