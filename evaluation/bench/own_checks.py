"""What only our own turn is measured on: fan-out, time-outs, long turns, a thousand sessions.

Run by evaluation/bench/run.py in a fresh process: `python -m evaluation.bench.own_checks`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence

from evaluation.bench.ours_harness import Function, Plan, Scripted, turns

FINAL = "done [src:1]"
TOOL_S = 0.1
FAN_OUTS = (4, 8, 16)
ROUNDS = 3
SHORT, LONG = 10, 50
LIMIT_S = 0.3
SESSIONS = 1_000
SYSTEM, PROMPT = "Answer from tool results and cite them.", "How do we rotate the certificate?"


def search(number: int, seconds: float) -> Function:
    """A tool function of its own name that takes `seconds`."""

    async def run(query: str) -> str:
        await asyncio.sleep(seconds)
        return "hit one; hit two; hit three"

    run.__name__ = f"search_{number}"
    run.__doc__ = "Search one source."
    return run


def at_once(count: int) -> Plan:
    """One step that calls `count` tools, then the answer."""
    calls = [(f"c{n}", f"search_{n}", {"query": f"variant {n}"}) for n in range(count)]
    return lambda replies: ((), FINAL) if replies else (calls, None)


def one_by_one(steps: int) -> Plan:
    """`steps` steps with one call each, then the answer."""

    def plan(replies: int) -> tuple[Sequence[tuple[str, str, dict[str, str]]], str | None]:
        if replies == steps:
            return (), FINAL
        return [(f"c{replies}", "search_0", {"query": f"step {replies}"})], None

    return plan


async def wall(run: Callable[[], Awaitable[object]], times: int) -> float:
    """Middle wall seconds of a run."""
    walls: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        await run()
        walls.append(time.perf_counter() - start)
    return statistics.median(walls)


async def fan_out(count: int) -> dict[str, float]:
    """Wall of a turn with `count` tools at once, over the slowest tool and over a bare gather."""
    functions = [search(n, TOOL_S) for n in range(count)]
    run = turns(Scripted(at_once(count)), functions, SYSTEM, PROMPT)
    await run()

    async def bare() -> None:
        await asyncio.gather(*(f("x") for f in functions))

    ours, floor = await wall(run, 10), await wall(bare, 10)
    return {"over_slowest": ours / TOOL_S, "over_bare": ours / floor}


async def over_time() -> dict[str, float]:
    """A turn of four tools, one of which hangs: its wall over the time-out, failed calls a turn."""
    model = Scripted(at_once(4))
    functions = [search(n, 30.0 if n == 1 else TOOL_S) for n in range(4)]
    run = turns(model, functions, SYSTEM, PROMPT, timeout=LIMIT_S)
    times = 5
    spent = await wall(run, times)
    return {"over_timeout": spent / LIMIT_S, "failed_calls": model.failed / times}


async def step_growth() -> float:
    """CPU of a step in a turn of 50 steps over that in a turn of 10."""
    costs: dict[int, float] = {}
    for _ in range(5):
        for steps in (SHORT, LONG):
            run = turns(Scripted(one_by_one(steps)), [search(0, 0.0)], SYSTEM, PROMPT)
            await run()
            gc.collect()
            start = time.process_time()
            for _ in range(10):
                await run()
            cost = (time.process_time() - start) / 10 / steps
            costs[steps] = min(costs.get(steps, cost), cost)
    return costs[LONG] / costs[SHORT]


async def thousand() -> int:
    """How many of a thousand turns at once ended with the expected answer."""
    model = Scripted(at_once(4))
    run = turns(model, [search(n, TOOL_S) for n in range(4)], SYSTEM, PROMPT)
    answers = await asyncio.gather(*(run() for _ in range(SESSIONS)))
    return 0 if model.failed else sum(answer == FINAL for answer in answers)


async def main() -> None:
    before = os.getloadavg()[0]
    found = {
        "fan_out": {n: [await fan_out(n) for _ in range(ROUNDS)] for n in FAN_OUTS},
        "over_time": await over_time(),
        "step_growth": await step_growth(),
        "answered_of_thousand": await thousand(),
    }
    print(json.dumps({**found, "load1": max(before, os.getloadavg()[0])}))


if __name__ == "__main__":
    asyncio.run(main())
