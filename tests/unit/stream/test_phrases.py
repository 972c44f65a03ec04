"""Every text exists in both languages; a fault's text names its code and a next step."""

from collections.abc import Iterator
from typing import get_args

import pytest

from agent import phrases
from agent.domain import Attachment, Language, Source
from agent.errors import PlumblineError
from connectors import wording

LANGUAGES: tuple[Language, ...] = get_args(Language)


def codes(kind: type[PlumblineError] = PlumblineError) -> Iterator[str]:
    yield kind.code
    for child in kind.__subclasses__():
        yield from codes(child)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_error_has_a_text_with_its_code_and_what_to_do(language: Language) -> None:
    step = "请" if language == "zh" else "lease"
    for code in codes():
        text = phrases.error(language, code)
        assert code in text
        assert step in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_left_unfilled(language: Language) -> None:
    texts = [
        *(phrases.progress(language, kind) for kind in get_args(phrases.ProgressKind)),
        phrases.progress(language, "searching", "wiki"),
        phrases.still(language, "", 20.4),
        phrases.cleared(language),
        phrases.empty_question(language),
        phrases.unsupported(language, "audio"),
        phrases.unsupported(language, "never seen"),
        phrases.offline_model(language),
        phrases.incomplete(language),
        phrases.step_limit(language, 10),
        phrases.refusal_steps(language),
        phrases.kept_private(language),
        phrases.summarise(language),
        phrases.files_unread(
            language, [Attachment("image", "k")] if language == "zh" else [Attachment("file", "k")]
        ),
        phrases.shortened(language),
        phrases.unsearched(language, ["知识库" if language == "zh" else "the knowledge base"]),
        wording.goes_on(language),
        wording.sources_title(language),
        *(wording.state_title(language, state) for state in get_args(wording.CardState)),
    ]
    assert all(text and "{" not in text for text in texts)
    chinese = [any("\u4e00" <= c <= "\u9fff" for c in text) for text in texts]
    assert set(chinese) == {language == "zh"}


def test_facts_of_a_source() -> None:
    source = Source("a", "A", kind="policy", updated="2026-01-02", status="obsolete")
    assert wording.source_facts("zh", source) == "制度 · 2026-01-02 · 已失效"
    assert wording.source_facts("en", Source("a", "A")) == ""
    assert wording.source_facts("en", Source("a", "A", "https://x.example/a")) == ""
    assert wording.source_facts("en", Source("a", "A", "own/a.md", "faq")).endswith("own/a.md")
    assert wording.source_icon("policy", private=True) == "🔒"
