"""`plumbline kb` as an operator uses it, with the real stores and the default embedder."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.domain import Identity
from agent.stores.system_clock import SystemClock
from connectors.directory import OrganisationDirectory, Standing
from handlers import wiring
from handlers.cli.kb import app
from handlers.configuration import load_configuration
from handlers.settings import Settings

DOCS = Path(__file__).parent.parent / "data" / "docs"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    return CliRunner()


def test_add_list_remove(run: CliRunner, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    shutil.copytree(DOCS, folder)
    added = run.invoke(app, ["add", str(folder), "--space", "demo"])
    assert added.exit_code == 3, added.output
    assert "refused scanned_one_page.pdf: no text layer" in added.output
    assert "Traceback" not in added.output
    listed = run.invoke(app, ["list", "--space", "demo"])
    assert "policy_gbk.txt" in listed.output
    assert "needs a password" in listed.output
    assert run.invoke(app, ["remove", "policy_gbk.txt"]).exit_code == 0
    assert "policy_gbk.txt" not in run.invoke(app, ["list"]).output
    assert run.invoke(app, ["remove", "--space", "demo"]).exit_code == 0
    assert run.invoke(app, ["remove", "--space", "demo"]).exit_code == 1


def test_a_folder_of_spaces(run: CliRunner, tmp_path: Path) -> None:
    for name in ("hr", "it"):
        (tmp_path / "kb" / name).mkdir(parents=True)
        (tmp_path / "kb" / name / "_space.yaml").write_text("kind: policy\n", "utf-8")
        (tmp_path / "kb" / name / "page.md").write_text(f"About {name}.", "utf-8")
    added = run.invoke(app, ["add", str(tmp_path / "kb")])
    assert added.exit_code == 0, added.output
    assert "Space hr" in added.output
    assert "Space it" in added.output


def test_exit_status_says_when_nothing_was_usable(run: CliRunner, tmp_path: Path) -> None:
    broken = shutil.copy(DOCS / "truncated.pdf", tmp_path)
    assert run.invoke(app, ["add", str(broken), "--space", "demo"]).exit_code == 1
    assert run.invoke(app, ["add", str(tmp_path / "nowhere")]).exit_code == 1
    assert run.invoke(app, ["add", str(broken), "--space", "a#b"]).exit_code == 1
    assert run.invoke(app, ["remove"]).exit_code == 1


@pytest.fixture
def hr(run: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A space hr with one page of its own and one for legal, indexed, and a configuration."""
    folder = tmp_path / "hr"
    folder.mkdir()
    (folder / "pay.md").write_text("---\nversion: '2'\n---\n# Pay bands\n\nSecret.", "utf-8")
    (folder / "suit.md").write_text("---\nreaders: ['group:legal']\n---\n# Suit\n\nX.", "utf-8")
    toml = tmp_path / "plumbline.toml"
    toml.write_text('[groups]\nhr = ["slack:U1"]\nlegal = ["feishu:ou_2"]\n', "utf-8")
    monkeypatch.setenv("PLUMBLINE_CONFIG", str(toml))
    assert run.invoke(app, ["add", str(folder)]).exit_code == 0
    return folder


def listed(run: CliRunner) -> dict[str, dict[str, str]]:
    return {row["path"]: row for row in json.loads(run.invoke(app, ["list", "--json"]).stdout)}


def test_readers_of_a_space_are_set_and_given_back(run: CliRunner, hr: Path) -> None:
    assert "everyone (set by the folder)" in run.invoke(app, ["space", "hr"]).output
    done = run.invoke(app, ["space", "hr", "--readers", "group:hr, person:slack:U7"])
    assert done.exit_code == 0, done.output
    assert "group:hr, person:slack:U7 (set by hand)" in done.output
    assert "1 documents have other readers now" in done.output
    rows = listed(run)
    assert rows["pay.md"]["readers"] == ["group:hr", "person:slack:U7"]
    assert (rows["pay.md"]["readers_from"], rows["suit.md"]["readers_from"]) == (
        "space",
        "document",
    )
    assert rows["suit.md"]["readers"] == ["group:legal"]
    assert run.invoke(app, ["space", "hr", "--from-folder"]).exit_code == 0
    assert run.invoke(app, ["add", str(hr)]).exit_code == 0
    assert listed(run)["pay.md"]["readers"] == ["group:hr", "person:slack:U7"], "nothing was said"


def test_a_slip_in_readers_is_told(run: CliRunner, hr: Path) -> None:
    assert run.invoke(app, ["space", "hr", "--readers", "hr"]).exit_code == 2
    assert run.invoke(app, ["space", "nowhere"]).exit_code == 1
    assert run.invoke(app, ["space", "a#b", "--readers", "everyone"]).exit_code == 1
    unknown = run.invoke(app, ["space", "hr", "--readers", "group:hrr"])
    assert "Nobody is in group:hrr" in unknown.output
    both = ["space", "hr", "--readers", "everyone", "--from-folder"]
    assert run.invoke(app, both).exit_code == 2


def test_a_space_may_have_its_readers_before_its_first_document(
    run: CliRunner, hr: Path, tmp_path: Path
) -> None:
    assert run.invoke(app, ["space", "new", "--readers", "group:hr"]).exit_code == 0
    assert run.invoke(app, ["add", str(hr / "pay.md"), "--space", "new"]).exit_code == 0
    rows = json.loads(run.invoke(app, ["list", "--space", "new", "--json"]).stdout)
    assert [row["readers"] for row in rows] == [["group:hr"]]


def test_the_list_names_title_readers_status_and_version(run: CliRunner, hr: Path) -> None:
    lines = run.invoke(app, ["list"]).output.splitlines()
    assert lines[0].split() == ["space", "title", "readers", "status", "version", "path"]
    [pay] = [line for line in lines if "pay.md" in line]
    assert pay.split()[:6] == ["hr", "Pay", "bands", "everyone", "current", "2"]


def test_near_duplicates_are_named(run: CliRunner, hr: Path) -> None:
    text = "The badge opens the gate from seven to nine, the guard opens it after that. " * 3
    for name in ("gate", "gate-copy"):
        (hr / f"{name}.md").write_text(f"{text}{name}", "utf-8")
    done = run.invoke(app, ["add", str(hr)])
    assert "gate.md says nearly the same as gate-copy.md" in done.output
    assert listed(run)["gate.md"]["nearly_same_as"] == "gate-copy.md"
    assert listed(run)["gate-copy.md"]["nearly_same_as"] == ""


def test_who_can_see_names_labels_and_people(run: CliRunner, hr: Path) -> None:
    def seen(thing: str) -> list[tuple[list[str], list[str]]]:
        done = run.invoke(app, ["who-can-see", thing, "--json"])
        assert done.exit_code == 0, done.output
        return [(row["readers"], sorted(row["people"])) for row in json.loads(done.stdout)]

    assert seen("suit.md") == [(["group:legal"], ["feishu:ou_2"])]
    assert seen("hr") == [(["everyone"], ["feishu:ou_2", "slack:U1"])]
    guest = Identity("default", "slack", "A", "T", "U9", "Guest")
    asyncio.run(_met(guest, Standing("guest", "Guest")))
    asyncio.run(_met(replace(guest, user="U8"), Standing("member", "Mia")))
    assert seen("hr") == [(["everyone"], ["feishu:ou_2", "slack:U1", "slack:U8"])]
    run.invoke(app, ["space", "hr", "--readers", "person:slack:U9"])
    assert seen("pay.md") == [(["person:slack:U9"], ["slack:U9"])], "never met, but named"
    asyncio.run(_met(guest, Standing("gone")))
    assert seen("pay.md") == [(["person:slack:U9"], [])], "met, and gone"
    run.invoke(app, ["drop-cache"])
    asyncio.run(_met(guest, Standing("guest", "Guest")))
    assert seen("pay.md") == [(["person:slack:U9"], ["slack:U9"])]
    assert "slack:U9" in run.invoke(app, ["who-can-see", "pay.md"]).output
    assert run.invoke(app, ["who-can-see", "nothing.md"]).exit_code == 1


def test_dropping_the_cache_forgets_who_was_met(run: CliRunner, hr: Path) -> None:
    mia = Identity("default", "slack", "A", "T", "U8", "Mia")
    asyncio.run(_met(mia, Standing("member", "Mia")))
    assert "slack:U8" in run.invoke(app, ["who-can-see", "hr"]).output
    assert run.invoke(app, ["drop-cache"]).exit_code == 0
    assert "slack:U8" not in run.invoke(app, ["who-can-see", "hr"]).output


def test_a_space_is_made_equal_to_its_folder(run: CliRunner, hr: Path, tmp_path: Path) -> None:
    (hr / "pay.md").write_text("# Pay bands\n\nNew.", "utf-8")
    (hr / "suit.md").unlink()
    (hr / "more.md").write_text("# More\n\nText.", "utf-8")
    done = run.invoke(app, ["sync", str(hr), "--space", "hr"])
    assert done.exit_code == 0, done.output
    for line in ("added more.md", "changed pay.md", "removed suit.md"):
        assert line in done.output
    other = tmp_path / "other"
    other.mkdir()
    (other / "z.md").write_text("# Z\n\nText.", "utf-8")
    assert run.invoke(app, ["sync", str(other), "--space", "hr"]).exit_code == 0
    assert set(listed(run)) == {"more.md", "pay.md", "z.md"}, "probably the wrong folder"
    (other / "z.md").rename(other / "y.md")
    assert run.invoke(app, ["sync", str(other), "--space", "hr", "--replace"]).exit_code == 0
    assert set(listed(run)) == {"y.md"}
    assert run.invoke(app, ["sync", str(other / "y.md"), "--space", "hr"]).exit_code == 1


class Told:
    """A platform that says one thing of everybody."""

    def __init__(self, standing: Standing) -> None:
        self.unknown = standing

    async def standing(self, person: Identity) -> Standing:
        del person
        return self.unknown


async def _met(person: Identity, standing: Standing) -> None:
    """The bot met a person: a turn of theirs asked the platform who they are."""
    settings = Settings.from_environment()
    rules = load_configuration(settings.config)
    async with wiring.state_table(settings) as table:
        people = Told(standing)
        house = OrganisationDirectory(table, SystemClock(), settings.org, rules, lambda _: people)
        await house.labels(person)
