"""A file is read in a process of its own: what it costs is bounded, and it costs itself alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rag.documents import DocumentRefused, Reading
from rag.loaders import load
from rag.loaders.isolated import IsolatedReader, Limits
from tests.fakes.bombs import bombs

DOCS = Path(__file__).parents[2] / "data" / "docs"
MB = 2**20


def outcome(reader: IsolatedReader, path: Path) -> Reading | str:
    try:
        return reader.read(path)
    except DocumentRefused as refusal:
        return str(refusal)


def reader_that(does: str, limits: Limits | None = None) -> IsolatedReader:
    """The real child, whose loader does this instead with (name, data, beat)."""
    code = (
        "import os, socket, subprocess, sys, time, rag.loaders.reader_process as child\n"
        "from rag.documents import *\n"
        "def said(text): return Reading((Section((), (Block(str(text)),)),))\n"
        f"def load(name, data, beat):\n    {does}\n    return said(data.decode())\n"
        "child.load = load\nchild.main()"
    )
    return IsolatedReader(limits or Limits(), (sys.executable, "-c", code))


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.txt" for name in ("a", "b", "c")]
    for path in paths:
        path.write_text(f"text of {path.stem}", "utf-8")
    return paths


def ended(process: str) -> bool:
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().split()[2] in "ZX"


def refusal(reader: IsolatedReader, path: Path) -> DocumentRefused:
    with reader, pytest.raises(DocumentRefused) as caught:
        reader.read(path)
    assert caught.value.next_step
    return caught.value


@pytest.mark.slow
def test_s7_no_bomb_costs_more_than_five_seconds_and_300_mb(tmp_path: Path) -> None:
    folder = tmp_path / "bombs"
    folder.mkdir()
    for name, data in bombs():
        (folder / name).write_bytes(data)
    command = [sys.executable, "-m", "tests.fakes.bombs", str(folder)]
    root = Path(__file__).parents[3]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    cost = json.loads(done.stdout)
    assert len(cost["files"]) >= 20
    assert {name: seconds for name, (_, seconds) in cost["files"].items() if seconds > 5} == {}
    assert cost["peak"] <= 300 * MB
    for name in ("inflates.docx", "inflates.xlsx", "inflates.pptx"):
        assert cost["files"][name][0] == "unpacks too large"
    for name in ("twice.pdf", "far_row.xlsx", "deep.html", "lies.docx", "yaml.md"):
        assert not cost["files"][name][0].startswith("read"), name


@pytest.mark.parametrize("name", sorted(p.name for p in DOCS.iterdir() if p.suffix != ".json"))
def test_a_case_has_the_same_end_in_the_process_of_its_own(name: str) -> None:
    try:
        here: Reading | str = load(name, (DOCS / name).read_bytes())
    except DocumentRefused as refused:
        here = str(refused)
    with IsolatedReader() as reader:
        assert outcome(reader, DOCS / name) == here


def test_one_process_serves_many_files_and_a_dead_one_loses_its_own(files: list[Path]) -> None:
    with reader_that("if name == 'b.txt': os._exit(1)\n    data = b'%d' % os.getpid()") as reader:
        first = outcome(reader, files[0])
        assert outcome(reader, files[0]) == first, "the same process"
        assert str(outcome(reader, files[1])).startswith("damaged")
        last = outcome(reader, files[2])
    assert isinstance(first, Reading)
    assert isinstance(last, Reading)
    assert last != first, "a new process"


def test_a_file_never_pays_for_those_before_it(files: list[Path]) -> None:
    does = "load.n = getattr(load, 'n', 0) + 1\n    if load.n == 2: os._exit(1)"
    with reader_that(does) as reader:
        texts = [
            read.text if isinstance(read := outcome(reader, f), Reading) else "" for f in files
        ]
    assert texts == ["text of a", "text of b", "text of c"]


def test_the_clock_ends_a_reader_with_all_that_it_started(files: list[Path]) -> None:
    code = (
        "import subprocess, sys, time\n"
        "path = sys.stdin.readline().strip()\n"
        "started = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open(path, 'w').write(str(started.pid))\ntime.sleep(60)"
    )
    reader = IsolatedReader(Limits(file_seconds=1.5), (sys.executable, "-S", "-c", code))
    assert refusal(reader, files[0]).reason == "takes too long"
    started = files[0].read_text()
    assert any(ended(started) or time.sleep(0.1) for _ in range(50))


def test_processor_time_is_counted_for_each_step(files: list[Path]) -> None:
    endless = reader_that("while True: pass", Limits(step_seconds=0))
    assert refusal(endless, files[0]).reason == "takes too long"
    does = "end = time.process_time() + 2.5\n    while time.process_time() < end: beat()"
    with reader_that(does, Limits(step_seconds=1)) as reader:
        assert isinstance(outcome(reader, files[0]), Reading), "work that goes on may go on"


def test_memory_and_output_are_bounded(files: list[Path]) -> None:
    hungry = reader_that("if name == 'a.txt': bytearray(300 * 2**20)")
    with hungry:
        assert str(outcome(hungry, files[0])).startswith("needs too much memory")
        assert isinstance(outcome(hungry, files[1]), Reading)
    wordy = reader_that("if name == 'a.txt': data *= 1000", Limits(output=1000))
    with wordy:
        assert str(outcome(wordy, files[0])).startswith("too large")
        assert isinstance(outcome(wordy, files[1]), Reading)


@pytest.mark.parametrize(
    "does",
    [
        "socket.socket()",
        "socket.getaddrinfo('localhost', 80)",
        "subprocess.run(['true'])",
        "os.fork()",
        "os.system('true')",
        "import tempfile; f = tempfile.TemporaryFile(); f.write(b'x'); f.flush()",
    ],
)
def test_a_reader_reaches_nothing_else(files: list[Path], does: str) -> None:
    with reader_that(does) as reader:
        assert str(outcome(reader, files[0])).startswith("damaged: the file can not be read")


def test_no_setting_of_ours_is_in_its_environment(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMBLINE_SLACK_BOT_TOKEN", "xoxb-demo-bot")
    with reader_that("return said(sorted(os.environ))") as reader:
        assert "PLUMBLINE" not in reader.read(files[0]).text
    assert "PLUMBLINE_SLACK_BOT_TOKEN" in os.environ  # noqa: TID251  it was there to be seen


def test_properties_keep_what_is_used_and_nothing_that_grows(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text(
        "---\nupdated: 2026-01-05\nreaders: ['group:hr', {a: 1}]\ntitle: {a: b}\n---\nx", "utf-8"
    )
    with IsolatedReader() as reader:
        assert reader.read(page).properties == {
            "updated": "2026-01-05",
            "readers": ["group:hr", []],
            "title": [],
        }


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    with IsolatedReader() as reader:
        assert "No such file" in str(outcome(reader, tmp_path / "gone.txt"))
