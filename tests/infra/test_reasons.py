"""Whatever steps around a rule says why beside it, and a file of tests holds tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("agent", "handlers", "connectors", "rag", "simulator", "evaluation", "tests")
FILES = sorted(path for name in FOLDERS for path in (ROOT / name).rglob("*.py"))

WAIVER = re.compile(r"#\s*(?:noqa:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*|pyright:\s*ignore\[[\w, ]+\])(.*)")
CATCH_ALL = re.compile(r"^\s*except (?:Base)?Exception\b[^#]*:(.*)")
WORDS = re.compile(r"[A-Za-z]{2,}")
TEST = re.compile(r"^\s*(?:async )?def test_|^\w+ = \w+\.TestCase$", re.MULTILINE)


def unexplained(text: str) -> list[int]:
    """The lines that waive a rule, or catch everything, without a word of why."""
    return [
        number
        for number, line in enumerate(text.splitlines(), start=1)
        for found in (WAIVER.search(line) or CATCH_ALL.match(line),)
        if found is not None and not WORDS.search(found[1])
    ]


@pytest.mark.parametrize(
    ("line", "explained"),
    [
        ("x = 1  # noqa: S105", False),
        ("x = 1  # noqa: S105  a demo's secret", True),
        ("x = y  # pyright: ignore[reportUnknownMemberType]", False),
        ("x = y  # pyright: ignore[reportUnknownMemberType] - untyped", True),
        ("    except Exception:", False),
        ("    except BaseException as fault:", False),
        ("    except Exception:  # the ring comes again", True),
        ("    except ValueError:", True),
    ],
)
def test_what_counts_as_a_reason(line: str, explained: bool) -> None:
    assert (unexplained(line) == []) == explained


def test_every_waiver_and_catch_all_has_a_reason() -> None:
    assert len(FILES) > 400
    here = Path(__file__)
    found = {
        str(path.relative_to(ROOT)): lines
        for path in FILES
        if path != here and (lines := unexplained(path.read_text("utf-8")))
    }
    assert found == {}


def test_every_file_of_tests_holds_a_test() -> None:
    """One was once overwritten with a copy of other code, and nothing noticed."""
    named = [path for path in FILES if path.name.startswith("test_")]
    empty = [str(p.relative_to(ROOT)) for p in named if not TEST.search(p.read_text("utf-8"))]
    assert len(named) > 150
    assert empty == []


def test_no_two_files_are_the_same() -> None:
    texts: dict[str, list[str]] = {}
    for path in FILES:
        if len(text := path.read_text("utf-8")) > 400:
            texts.setdefault(text, []).append(str(path.relative_to(ROOT)))
    assert [names for names in texts.values() if len(names) > 1] == []
