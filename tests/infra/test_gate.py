"""The gate itself: its bans are in force and its contracts catch what they are there for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("handlers", "agent", "connectors", "rag", "simulator", "evaluation")


def command(name: str) -> str:
    """A tool of the environment that runs the tests."""
    return str(Path(sys.executable).with_name(name))


def ruff(code: str, name: str) -> set[str]:
    """The rules that ruff sees broken in this code, were it the file `name`."""
    done = subprocess.run(
        [command("ruff"), "check", "--output-format=concise", "--stdin-filename", name, "-"],
        cwd=ROOT,
        input=code,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    found = [line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith(name)]
    return {f.split()[0].rstrip(":") for f in found}


BANNED = {
    "datetime.now": "from datetime import UTC, datetime\n\nNOW = datetime.now(UTC)\n",
    "time.time": "import time\n\nNOW = time.time()\n",
    "time.monotonic": "import time\n\nNOW = time.monotonic()\n",
    "os.environ": "import os\n\nHOME = os.environ['HOME']\n",
    "os.getenv": "import os\n\nHOME = os.getenv('HOME')\n",
    "asyncio.gather": "import asyncio\n\nBOTH = asyncio.gather\n",
    "uuid4": "import uuid\n\nID = uuid.uuid4()\n",
    "random": "import random\n\nCHANCE = random.random()\n",
}


@pytest.mark.parametrize("what", BANNED)
def test_time_chance_and_environment_come_through_their_ports(what: str) -> None:
    for name in ("agent/turn.py", "handlers/worker.py", "connectors/web.py", "rag/text.py"):
        assert "TID251" in ruff(BANNED[what], name), f"{what} passes in {name}"


def test_only_their_own_places_are_free_to_use_them() -> None:
    assert "TID251" not in ruff(BANNED["os.environ"], "handlers/settings.py")
    assert "TID251" not in ruff(BANNED["time.time"], "agent/stores/system_clock.py")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The sources in a place of their own."""
    for name in SOURCES:
        only_code = shutil.ignore_patterns("__pycache__", "company", "page", "*.json", "*.md")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=only_code)
    (tmp_path / "simulator" / "company").mkdir(exist_ok=True)
    company = ROOT / "simulator" / "company.py"
    shutil.copy(company, tmp_path / "simulator" / "company.py")
    shutil.rmtree(tmp_path / "simulator" / "company")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


PLANTED = {
    "the core reaches up": ("agent/citations.py", "import rag.text", "edge over platforms"),
    "the core takes a vendor": ("agent/session.py", "import httpx", "no vendor in the core"),
    "the simulator takes ours": ("simulator/wire.py", "import agent.errors", "imports nothing of"),
}


def test_import_contracts_hold_and_catch_planted_imports(copied: Path) -> None:
    clean = lint_imports(copied)
    assert clean.returncode == 0, clean.stdout
    assert " 0 broken" in clean.stdout
    for file, line, _ in PLANTED.values():
        path = copied / file
        path.write_text(path.read_text(encoding="utf-8") + f"\n\n{line}\n", encoding="utf-8")
    planted = lint_imports(copied)
    assert planted.returncode != 0
    broken = [row for row in planted.stdout.splitlines() if "BROKEN" in row]
    for what, (_, _, contract) in PLANTED.items():
        assert any(contract in row for row in broken), f"{what}: {broken}"


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the contracts over the sources in a folder."""
    return subprocess.run(
        [command("lint-imports"), "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
