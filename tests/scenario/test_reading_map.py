"""docs/cases.md names a test for every public case, and every test that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = re.compile(r"^\| (C-[A-Z]{2}-\d\d) \| (.*?) \|(.*?)\|$", re.MULTILINE)
NAMED = re.compile(r"(tests/[\w/]+\.py)::(test_\w+)")
CASES = [
    f"C-{family}-{n:02d}"
    for family, count in (("SL", 10), ("FS", 12), ("AG", 13), ("SE", 3))
    for n in range(1, count + 1)
]


def rows() -> list[tuple[str, str, str]]:
    """Case, tests and what is later of each line of the table."""
    return ROWS.findall((ROOT / "docs" / "cases.md").read_text("utf-8"))


@cache
def defined(path: str) -> frozenset[str]:
    """The names of the tests in a file."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, functions))


def test_every_case_has_one_row_in_order() -> None:
    assert [case for case, _, _ in rows()] == CASES


def test_every_row_names_a_test_or_the_issue_that_brings_it() -> None:
    bare = [c for c, tests, later in rows() if not NAMED.search(tests) and "Issue" not in later]
    assert bare == []


def test_every_named_test_exists() -> None:
    named = [pair for _, tests, _ in rows() for pair in NAMED.findall(tests)]
    missing = [f"{p}::{name}" for p, name in named if name not in defined(p)]
    assert len(named) > len(CASES)
    assert missing == []
