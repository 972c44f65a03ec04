"""The frameworks beside us: one environment for each, one fresh process for each measurement."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ("import", "A", "B", "C", "C", "C")
"""The order within a repeat. C is short and a busy moment spoils it, so it is run three times."""
OURS = "ours"
BARE = "bare"

Row = dict[str, Any]
"""One measurement as the shared harness prints it, with `name` and `repeat` added."""

_LAUNCH = """
import runpy, sys
folder, script, *arguments = sys.argv[1:]
sys.path.insert(0, folder)
sys.argv = [script, *arguments]
runpy.run_path(script, run_name="__main__")
"""


@dataclass(frozen=True, slots=True)
class Framework:
    """A column of the table: its adapter of the shared harness, and what pip installs for it."""

    name: str
    adapter: str
    packages: tuple[str, ...] = ()


FRAMEWORKS = (
    Framework(BARE, "bare"),
    Framework("strands", "strands_agent", ("strands-agents",)),
    Framework("openai-agents", "openai_agents_sdk", ("openai-agents",)),
    Framework("pydantic-ai", "pydantic_ai_fn", ("pydantic-ai-slim",)),
    Framework("langgraph", "langgraph_react", ("langgraph",)),
    Framework("agentscope", "agentscope_agent", ("agentscope",)),
    Framework(OURS, "ours_harness"),
)
PEERS = tuple(f.name for f in FRAMEWORKS if f.packages)


class Unmeasured(Exception):
    """A measurement that could not be made; the text says why and what to do."""


def interpreter(framework: Framework, folder: Path) -> Path:
    """The interpreter that measures this framework; its environment is made when it is missing."""
    if framework.name == OURS:
        return Path(sys.executable)
    home = folder / framework.name
    python, ready = home / "bin" / "python", home / ".ready"
    if not ready.exists():
        print(f"preparing {framework.name} ...", flush=True)
        venv.create(home, with_pip=bool(framework.packages), clear=True)
        if framework.packages:
            pip = [str(python), "-m", "pip", "install", "-q", *framework.packages]
            done = subprocess.run(pip, capture_output=True, text=True)
            if done.returncode:
                raise Unmeasured(f"pip could not install {framework.name}:\n{done.stderr[-800:]}")
        ready.touch()
    return python


def measure(framework: Framework, scenario: str, bench: Path, folder: Path) -> Row:
    """One scenario in a fresh process.

    Raises:
        Unmeasured: the process failed; the text holds the end of its messages.
    """
    adapters = ROOT / "evaluation" / "bench" if framework.name == OURS else bench
    script = str(bench / "bench_overhead.py")
    # A process inherits the peak memory of the one that started it: a small shell stands between.
    command = ["sh", "-c", '"$@"; exit $?', "sh"]
    command += [str(interpreter(framework, folder)), "-W", "ignore", "-c", _LAUNCH]
    command += [str(adapters), script, framework.adapter, scenario]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode or not done.stdout.strip():
        raise Unmeasured(f"{framework.name}, scenario {scenario}:\n{done.stderr[-1500:]}")
    return {**json.loads(done.stdout.strip().splitlines()[-1]), "name": framework.name}


def interleaved(bench: Path, folder: Path, repeats: int) -> Iterator[Row]:
    """All rows: within a repeat each scenario goes through all frameworks before the next one.

    Rows with the same `repeat` were measured one after the other and may be compared.
    """
    for framework in FRAMEWORKS:
        interpreter(framework, folder)
    for repeat in range(repeats):
        for part, scenario in enumerate(SCENARIOS):
            for framework in FRAMEWORKS:
                row = measure(framework, scenario, bench, folder)
                yield {**row, "repeat": repeat * len(SCENARIOS) + part}
