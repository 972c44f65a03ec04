"""The receiving path stays light: what a fresh interpreter has loaded once the first client is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEAVY = (
    "lark_oapi", "slack_bolt", "slack_sdk", "anthropic", "opensearchpy", "aiobotocore", "rag",
    "agent.loop", "agent.models", "agent.turn", "pydantic", "httpx", "numpy",
)  # fmt: skip
SCRIPT = """
import sys, json
import handlers.{platform}
from handlers import wiring
from handlers.settings import Settings
wiring.receiving(Settings(home=sys.argv[1]))
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("platform", ["feishu", "slack"])
def test_receiving_loads_little(platform: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(platform=platform), str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    modules: list[str] = json.loads(done.stdout)
    loaded = [m for m in modules for heavy in HEAVY if m == heavy or m.startswith(f"{heavy}.")]
    assert loaded == []
    assert len(modules) <= 500
