"""Nothing the model writes becomes a link, a picture or a mention (SECURITY.md M10, S5)."""

import random
from collections.abc import Callable

import pytest

from connectors.feishu.markup import card_writer, plain_writer
from connectors.feishu.markup import safe_url as feishu_url
from connectors.markup.renderer import IncrementalRenderer
from connectors.markup.writer import Writer
from connectors.slack.markup import markdown_writer, mrkdwn_writer
from connectors.slack.markup import safe_url as slack_url
from tests.unit.markup.detector import live_references
from tests.unit.markup.soup import PIECES, SOURCES

FORMS = [
    ("markdown", markdown_writer, slack_url),
    ("mrkdwn", mrkdwn_writer, slack_url),
    ("card", card_writer, feishu_url),
]
CASES = 3_000


def rendered(writer: Callable[[], Writer], text: str) -> str:
    return IncrementalRenderer(writer(), SOURCES).render(text, final=True)


@pytest.mark.parametrize(("form", "writer", "url"), FORMS)
def test_no_live_reference_outside_the_source_table(
    form: str, writer: Callable[[], Writer], url: Callable[[str], str]
) -> None:
    allowed = {url(s.url) for s in SOURCES.values()} - {""}
    for seed in range(CASES):
        chance = random.Random(seed)
        text = "".join(chance.choices(PIECES, k=chance.randint(1, 16)))
        out = rendered(writer, text)
        found = live_references(out, allowed, form=form)
        assert not found, (seed, text, out, found)


@pytest.mark.parametrize(("form", "writer", "url"), FORMS)
@pytest.mark.parametrize("text", [p for p in PIECES if "evil" in p or p.startswith(("<", "!["))])
def test_each_hostile_form_alone_and_nested(
    form: str, writer: Callable[[], Writer], url: Callable[[str], str], text: str
) -> None:
    del url
    for nested in (
        text,
        f"**{text}**",
        f"- a\n  - {text}",
        f"> {text}",
        f"| a |\n|---|\n| {text} |",
    ):
        assert not live_references(rendered(writer, nested), set(), form=form), nested


@pytest.mark.parametrize("form", ["markdown", "mrkdwn", "card"])
@pytest.mark.parametrize(
    "live",
    [
        "[x](http://evil.com)",
        "see evil.com now",
        "https://evil.com",
        "<!channel>",
        "<at id=all></at>",
        "<https://evil.com|x>",
        "evil。com",
        "mail bob@evil.com",
    ],
)
def test_the_detector_sees_what_is_live(form: str, live: str) -> None:
    assert live_references(live, set(), form=form)


@pytest.mark.parametrize("writer", [markdown_writer, card_writer])
def test_code_blocks_keep_their_bytes(writer: Callable[[], Writer]) -> None:
    code = '```py\nif a < b & c: print("*x*", "evil.com")\n\t| [src:kb-1] |\n```'
    assert rendered(writer, code) == code


def test_bare_addresses_are_shown_as_code() -> None:
    out = rendered(markdown_writer, "see exam\u200bple.com, https://a.b/c_d. 版本2.0")
    assert out == "see `example.com`, `https://a.b/c_d`. 版本2.0"


def test_a_name_with_an_address_in_it_is_one_piece_of_code() -> None:
    for name in ("im:message.group_msg:get_as_user", "search:read.im", "bob@evil.com", "a.bc_d"):
        for writer in (markdown_writer, mrkdwn_writer, card_writer):
            assert rendered(writer, f"grants {name}, then") == f"grants `{name}`, then"


def test_a_link_of_the_model_keeps_its_words_only() -> None:
    out = rendered(card_writer, "[the **page**](http://evil.com) ![pic](http://evil.com/p.png)")
    assert out == "the **page** pic"


def test_a_style_without_a_mark_does_not_join_an_address() -> None:
    for text in ("# 5.**word**", "**5.__word__**", "*a.*_com_"):
        for form, writer, _ in FORMS:
            assert not live_references(rendered(writer, text), set(), form=form), (form, text)
    assert rendered(plain_writer, "5.**word**") == "5. word"
