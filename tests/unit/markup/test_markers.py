"""Citation markers: numbers, unknown ids, refusals."""

import json
from pathlib import Path

import pytest

from agent.markers import cited, is_refusal
from connectors.markup.renderer import IncrementalRenderer
from connectors.slack.markup import markdown_writer
from tests.unit.markup.soup import SOURCES

CASE = json.loads(Path("tests/data/cases/kb/citation_cases.json").read_text("utf-8"))


def test_unknown_sources_vanish_with_the_space_before_them() -> None:  # C-KB-07
    text, ids = cited(CASE["answer"], set(CASE["sources_shown"]))
    assert text == CASE["expect"]
    assert list(ids) == CASE["expect_cited"]


@pytest.mark.parametrize(
    ("text", "clean", "ids"),
    [
        ("a [src:x][src:y]", "a [src:x][src:y]", ("x", "y")),
        ("a [src:y, x; src:y]", "a [src:y][src:x][src:y]", ("y", "x")),
        ("a [src:x, nope].", "a [src:x].", ("x",)),
        ("`[src:x]` and\n```\n[src:y]\n```", "`[src:x]` and\n```\n[src:y]\n```", ()),
        ("cut off [src:x", "cut off", ()),
        ("", "", ()),
    ],
)
def test_cited(text: str, clean: str, ids: tuple[str, ...]) -> None:
    assert cited(text, {"x", "y"}) == (clean, ids)


def test_numbers_follow_first_appearance() -> None:
    out = IncrementalRenderer(markdown_writer(), SOURCES).render(
        "A [src:bare]. B [src:nope]. C **D [src:kb-2, bare]**.", final=True
    )
    assert out == ("A \\[1\\]. B. C **D [[2]](https://wiki.example.com/差旅)\\[1\\]**.")


def test_refusal_marker() -> None:
    assert is_refusal("\n[no-answer] Nothing found.")
    assert not is_refusal("It says [no-answer].")
    out = IncrementalRenderer(markdown_writer(), {}).render(
        "[no-answer] Nothing found.", final=True
    )
    assert out == "Nothing found."


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Answer: [src:Yes [src:kb-0]]", "Answer:"),
        ("Answer [src:a[src:b]].", "Answer [src:a]."),
        ("[src:x[src:y[src:z]]] so", " so"),
    ],
)
def test_a_marker_that_goes_makes_no_other_one(text: str, clean: str) -> None:
    assert cited(text, {"a"})[0] == clean
