"""docs/errors.md lists every code with its texts, and no code means two things."""

from __future__ import annotations

from agent.errors import ForPerson, PlumblineError
from agent.phrases import error, error_codes
from evaluation.errors_page import PAGE, page


def _tree(kind: type[PlumblineError]) -> set[type[PlumblineError]]:
    return {kind}.union(*(_tree(child) for child in kind.__subclasses__()))


def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m evaluation.errors_page"


def test_every_error_for_a_person_has_a_text_with_its_code_and_a_next_step() -> None:
    ours = {k for k in _tree(ForPerson) if k.__module__ == "agent.errors"} - {ForPerson}
    for kind in ours:
        assert kind.code in error_codes(), kind
    for code in ("PL-302", "PL-999"):
        assert code in error("en", code)
        assert code in error("zh", code)


def test_no_code_of_the_core_means_two_things() -> None:
    core = [k for k in _tree(PlumblineError) if k.__module__.startswith("agent.")]
    codes = [k.code for k in core if "code" in vars(k)]
    assert len(codes) == len(set(codes))
