"""The rules by which the offline model chooses what it quotes."""

from __future__ import annotations

from agent.models.offline.choice import choose
from agent.models.offline.passages import Shown
from agent.models.offline.question import whole_question
from agent.models.offline.terms import in_other_language, places_in, things


def shown(source: str, text: str, title: str = "", **more: str) -> Shown:
    return Shown(source, title or source, text, score=0.8, **more)  # pyright: ignore[reportArgumentType]  test shorthand


HOTELS = shown(
    "hotels",
    "We pay up to a ceiling.\n\n| City | Ceiling per night |\n|---|---|\n"
    "| Beijing, Shanghai | CNY 650 |\n| Berlin | EUR 165 |\n| Austin | USD 210 |",
    "Hotels on business trips",
)


def quotes(question: str, *passages: Shown) -> list[str]:
    return [unit.text for unit in choose(question, passages).quotes]


def test_the_row_of_the_place_asked_for_is_quoted_alone() -> None:
    (row,) = quotes("柏林的住宿上限是多少？", HOTELS)
    assert "EUR 165" in row
    assert not quotes("What is the hotel limit in Tokyo?", HOTELS)


def test_a_larger_place_answers_for_a_smaller_one() -> None:
    allowance = shown("a", "Daily allowance: China CNY 120.\nDaily allowance: Germany EUR 32.")
    (line,) = quotes("What is the daily allowance in Berlin?", allowance)
    assert "EUR 32" in line


def test_one_amount_is_enough() -> None:
    rules = shown(
        "p",
        "- at least 14 characters\n- a second factor everywhere\n- locked for 15 minutes",
        "Password rules",
    )
    assert quotes("How long does a password need to be?", rules) == ["at least 14 characters"]


def test_the_row_whose_range_holds_the_question_is_quoted() -> None:
    leave = shown(
        "l",
        "| 司龄 | 年假天数 |\n|---|---|\n| 不满 5 年 | 12 天 |\n| 5 年以上不满 10 年 | 15 天 |",
        "年休假",
    )
    (row,) = quotes("How many days of annual leave do I get after 6 years?", leave)
    assert "15 天" in row


def test_the_language_of_the_question_wins_between_two_that_say_the_same() -> None:
    zh = shown("zh", "- 空闲 30 分钟自动断开。", "VPN 使用指南")
    en = shown("en", "- An idle connection ends after 30 minutes.", "VPN guide")
    choice = choose("VPN 空闲多久会断开？", [en, zh])
    assert [u.shown.source for u in choice.quotes] == ["zh"]
    assert choice.conflict is None


def test_two_languages_that_differ_are_a_conflict() -> None:
    zh = shown("zh", "- VPN 空闲 15 分钟自动断开。", "安全常见问题")
    en = shown("en", "- An idle VPN connection ends after 30 minutes.", "VPN guide")
    assert choose("VPN 空闲多久会断开？", [en, zh]).conflict is not None


def test_different_places_or_a_report_of_the_past_are_no_conflict() -> None:
    first = shown("a", "- Vacation: 28 days a year.", "Vacation rules for Berlin")
    second = shown("b", "- Vacation: 15 days a year.", "Vacation rules for Shanghai")
    assert choose("How many days of vacation?", [first, second]).conflict is None
    rule = shown("c", "- The connection ends after 30 minutes.", "Connection rules")
    past = shown(
        "d", "- The connection ended after 95 minutes.", "Connection lost", sort="incident"
    )
    assert choose("How long until the connection ends?", [rule, past]).conflict is None


def test_words_that_a_document_cites_from_others_are_no_answer() -> None:
    case = shown("mail", "> Pay to the new account, last digits 0091, procurement.", "A false mail")
    assert not quotes("What are the last digits of the procurement account?", case)


def test_a_question_with_two_parts_gets_an_answer_to_each() -> None:
    arm = shown(
        "arm", "| Property | Value |\n|---|---|\n| Payload | 12 kg |\n| Weight | 54 kg |", "R7 arm"
    )
    told = " ".join(quotes("How heavy is the R7 arm and what can it lift?", arm))
    assert "54 kg" in told
    assert "12 kg" in told


def test_a_new_code_takes_the_place_of_the_old_one() -> None:
    assert whole_question(["VPN 报 809 怎么办？", "那 13801 呢？"]) == "VPN 报 13801 怎么办？"


def test_a_follow_up_that_asks_for_itself_keeps_the_names_alone() -> None:
    asked = ["How long does an NDA bind us?", "And how fast must copies be returned?"]
    assert whole_question(asked) == "how fast must copies be returned, NDA?"


def test_the_longest_word_of_the_glossary_is_the_thing() -> None:
    assert [t.said for t in things("框架合同") if t.concept] == ["框架合同"]
    assert in_other_language("柏林的年假有几天？") == "What is the annual leave in Berlin?"
    assert {place.en[0] for place in places_in("从上海到 Berlin")} == {"shanghai", "berlin"}
