"""A real OpenSearch node for tests: from Maven artefacts with the machine's JDK, or an address.

One node serves all workers of a run. It is fed by a named pipe that every worker holds open, and
ends with the last of them, however that one ends.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

FILES = Path(__file__).parents[1] / "opensearch"
_DOWNLOAD_SECONDS = 600
_START_SECONDS = 180
_IN_BACKGROUND = ("sh", "-c", 'exec 3<&0; "$0" "$@" <&3 3<&- >&2 & echo $!')
"""The node is nobody's child: it may outlive the worker that started it."""
_MEMORY = ("-Xms512m", "-Xmx512m", "-XX:MaxDirectMemorySize=256m")


class NoNode(Exception):
    """There is no node to be had here; the text says why."""


def url_given() -> str:
    """The address of a node that somebody else runs, "" for none."""
    return os.environ.get("OPENSEARCH_URL", "").strip()  # noqa: TID251  a switch of the tests alone


@contextmanager
def running_node(folder: Path) -> Generator[str]:
    """The address of a node that all callers with this folder share.

    Raises:
        NoNode: no address is set, and there is no JDK or no Maven.
    """
    if url_given():
        yield url_given()
        return
    for program in ("java", "javac", "mvn"):
        if shutil.which(program) is None:
            raise NoNode(f"OPENSEARCH_URL is not set and there is no {program} to start a node")
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / "lock"):
        held = _joined(folder) or _started(folder, artefacts())
    try:
        yield f"http://127.0.0.1:{(folder / 'port').read_text('ascii')}"
    finally:
        os.close(held)


def artefacts() -> Path:
    """The folder with the node's jars, fetched once and kept outside the repository."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")  # noqa: TID251  as above
    pom = (FILES / "pom.xml").read_bytes()
    ready = Path(base) / "plumbline" / f"opensearch-{hashlib.sha256(pom).hexdigest()[:12]}"
    ready.parent.mkdir(parents=True, exist_ok=True)
    with _locked(ready.with_suffix(".lock")):
        if not ready.is_dir():
            with tempfile.TemporaryDirectory(dir=ready.parent) as made:
                _fetch(Path(made) / "lib")
                (Path(made) / "lib").rename(ready)
    return ready


def _fetch(lib: Path) -> None:
    command = ["mvn", "-q", "-B", "-f", str(FILES / "pom.xml")]
    command += ["dependency:copy-dependencies", f"-DoutputDirectory={lib}"]
    try:
        subprocess.run(command, check=True, timeout=_DOWNLOAD_SECONDS, stdin=subprocess.DEVNULL)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as fault:
        raise NoNode(f"the node's artefacts could not be fetched: {fault}") from fault
    for plugin in lib.glob("*.zip"):
        with zipfile.ZipFile(plugin) as packed:
            for name in packed.namelist():
                if name.endswith(".jar"):
                    packed.extract(name, lib)
        plugin.unlink()


def _joined(folder: Path) -> int | None:
    """A hold on the node that runs in this folder, None when there is none."""
    try:
        held = os.open(folder / "alive", os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ENOENT):
            return None
        raise
    return held


def _started(folder: Path, lib: Path) -> int:
    shutil.rmtree(folder / "data", ignore_errors=True)
    for name in ("alive", "port"):
        (folder / name).unlink(missing_ok=True)
    (folder / "config").mkdir(exist_ok=True)
    os.mkfifo(folder / "alive")
    reading = os.open(folder / "alive", os.O_RDONLY | os.O_NONBLOCK)
    held = os.open(folder / "alive", os.O_WRONLY)
    os.set_blocking(reading, True)
    command = ["java", *_MEMORY, "-XX:ActiveProcessorCount=2", "-XX:+UseSerialGC"]
    command += ["-cp", f"{lib}/*", str(FILES / "Launcher.java"), str(folder)]
    with (folder / "log").open("wb") as log:
        said = subprocess.run(
            [*_IN_BACKGROUND, *command],
            stdin=reading,
            stdout=subprocess.PIPE,
            stderr=log,
            check=True,
        )
    os.close(reading)
    node = int(said.stdout)
    for _ in range(_START_SECONDS * 5):
        if (folder / "port").exists():
            return held
        if not _lives(node):
            break
        time.sleep(0.2)
    os.close(held)
    raise RuntimeError((folder / "log").read_text("utf-8", "replace")[-3000:])


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def _locked(path: Path) -> Generator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
