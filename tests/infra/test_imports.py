"""Importing: ours and not a stranger's, without an environment, side effects or heavy freight."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("handlers", "agent", "connectors", "rag")

IPV6_PROBE = "socket.bind (<socket.socket fd=3, family=10"
"""urllib3, which the OpenSearch client brings along, looks on import whether IPv6 can be bound."""

WATCH = """
import json, os, pkgutil, importlib, sys, threading
root, out = sys.argv[1], []
sys.path.insert(0, root)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND

def watch(event, args):
    if event == "open" and isinstance(args[2], int) and args[2] & WRITES:
        if str(args[0]) != os.devnull:
            out.append(f"{event} {args[0]}")
    elif event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "os.mkdir",
                   "subprocess.Popen", "sqlite3.connect", "os.fork"):
        out.append(f"{event} {args[:1]}")

sys.addaudithook(watch)
names = []
for top in sys.argv[2:]:
    package = importlib.import_module(top)
    for found in pkgutil.walk_packages(package.__path__, top + "."):
        importlib.import_module(found.name)
        names.append(found.name)
print(json.dumps({"seen": out, "threads": threading.active_count(), "names": names,
                  "left": os.listdir(".")}))
"""


def python(code: str, *arguments: str, cwd: Path = ROOT) -> str:
    """What an interpreter with an empty environment prints."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, *arguments],
        cwd=cwd,
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_everything_does_nothing(package: str, tmp_path: Path) -> None:
    found = json.loads(python(WATCH, str(ROOT), package, cwd=tmp_path))
    assert len(found["names"]) >= 10
    assert [event for event in found["seen"] if not event.startswith(IPV6_PROBE)] == []
    assert found["threads"] == 1
    assert found["left"] == []


HEAVY = {"anthropic", "lark_oapi", "slack_sdk", "slack_bolt", "numpy", "httpx", "starlette", "rag"}
LIGHT = {
    "agent.turn": HEAVY | {"pydantic", "cryptography", "sqlite3"},
    "agent.loop": HEAVY | {"pydantic"},
    "agent.session": HEAVY | {"pydantic"},
    "handlers.worker": HEAVY | {"pydantic", "agent.loop", "agent.models"},
    "handlers.wiring": HEAVY | {"pydantic", "agent.loop", "agent.models"},
    "connectors.slack.chat": (HEAVY - {"httpx"}) | {"pydantic"},
    "connectors.feishu.chat": (HEAVY - {"httpx"}) | {"pydantic"},
}


@pytest.mark.parametrize("module", LIGHT)
def test_what_is_heavy_stays_out(module: str) -> None:
    loaded = set(python(f"import sys, {module}; print(*sys.modules)").split())
    assert module in loaded
    assert loaded & LIGHT[module] == set()


def test_ours_win_over_a_strangers_packages(tmp_path: Path) -> None:
    for name in (*PACKAGES, "simulator", "evaluation"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('a stranger')\n")
    code = f"""
import sys
installed = {sysconfig.get_paths()["purelib"]!r}
sys.path.insert(sys.path.index(installed), {str(tmp_path)!r})
import handlers, agent, connectors, rag
print(*(m.__file__ for m in (handlers, agent, connectors, rag)), sep="\\n")
"""
    files = python(code).split()
    assert [Path(f).parent for f in files] == [ROOT / name for name in PACKAGES]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_tests_themselves_see_ours_before_what_is_installed(package: str) -> None:
    places = [str(Path(p).resolve()) for p in sys.path if p]
    assert places.index(str(ROOT)) < places.index(sysconfig.get_paths()["purelib"])
    module = __import__(package)
    assert Path(str(module.__file__)).parent == ROOT / package
