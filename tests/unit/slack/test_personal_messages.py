"""What search_my_messages asks of Slack and shows of its answers."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from agent.domain import EVERYONE
from agent.errors import BadArguments, ToolFailed
from agent.ports import ToolResult
from connectors.access import SignInNeeded
from connectors.personal.evidence import source_id
from tests.fakes.slack_reading import (
    ASKER,
    AT,
    Json,
    ReadSlack,
    file,
    fine,
    found,
    hit,
    limited,
    refused,
)

SEARCH, REPLIES = "assistant.search.context", "conversations.replies"
HISTORY, INFO = "conversations.history", "conversations.info"


async def search(slack: ReadSlack, query: str = "cache TTL", **more: object) -> ToolResult:
    return await slack.call("search_my_messages", query, **more)


def line(n: int, text: str, user: str = "U0CAI00001", **more: object) -> Json:
    """A message as history and threads give it, said n seconds after AT."""
    return {"type": "message", "user": user, "text": text, "ts": f"{AT + n}.000100", **more}


def page(*messages: Json, cursor: str = "") -> httpx.Response:
    return fine(messages=list(messages), response_metadata={"next_cursor": cursor})


async def test_a_search_asks_for_all_channels_and_no_highlights() -> None:
    slack = ReadSlack()
    await search(slack, "What is the cache TTL?", since="2026-11-01", until="2026-11-30")
    (form,) = slack.forms(SEARCH)
    assert form == {
        "query": "cache TTL",
        "content_types": "messages",
        "channel_types": "public_channel,private_channel,mpim,im",
        "include_context_messages": "true",
        "include_bots": "false",
        "highlight": "false",
        "limit": "20",
        "after": "1793491200",
        "before": "1796083200",
    }


async def test_a_workspace_with_semantic_search_gets_the_question_as_it_is() -> None:
    slack = ReadSlack()
    slack.always["assistant.search.info"] = fine(is_ai_search_enabled=True)
    await search(slack, "What is the\n cache TTL?", where="direct")
    await search(slack, "Who set it?")
    first, second = slack.forms(SEARCH)
    assert (first["query"], first["channel_types"]) == ("What is the cache TTL?", "im,mpim")
    assert second["query"] == "Who set it?"
    assert slack.counts["assistant.search.info"] == 1


@pytest.mark.parametrize(
    "answer", [limited("1"), refused("unknown_method"), refused("fatal_error")]
)
async def test_an_unknown_ability_means_keywords_and_costs_one_call(answer: httpx.Response) -> None:
    slack = ReadSlack()
    slack.always["assistant.search.info"] = answer
    start = slack.clock.monotonic()
    await search(slack, "What is the cache TTL?")
    assert slack.forms(SEARCH)[0]["query"] == "cache TTL"
    assert slack.counts["assistant.search.info"] == 1
    assert slack.clock.monotonic() == start


@pytest.mark.parametrize(
    "wrong", [{"since": "soon"}, {"since": "2026-11-02", "until": "2026-11-01"}, {"where": "x"}]
)
async def test_wrong_arguments_cost_nothing(wrong: Json) -> None:
    slack = ReadSlack()
    with pytest.raises(BadArguments):
        await search(slack, **wrong)
    with pytest.raises(BadArguments):
        await search(slack, "  ")
    assert slack.requests == []


async def test_a_turn_has_two_searches() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found((hit(1, "cache TTL is 300 s"),))
    assert (await search(slack)).passages
    assert (await search(slack, "TTL")).passages
    third = await search(slack, "cache")
    assert third.passages == ()
    assert "No further search" in third.note
    assert slack.counts[SEARCH] == 2
    with pytest.raises(ToolFailed, match="No further search"):
        await slack.call("search_my_documents")
    assert slack.counts[SEARCH] == 2


async def test_documents_and_minutes_share_a_search() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found(files=(file("F0A", "Weekly meeting"),))
    slack.always["canvases.getContent"] = fine(content="# Weekly\ncache TTL")
    docs = await slack.call("search_my_documents")
    minutes = await slack.call("search_my_minutes")
    assert docs.passages[0].source == minutes.passages[0].source
    assert slack.counts[SEARCH] == slack.counts["canvases.getContent"] == 1
    assert slack.budget.left == 1


async def test_meeting_notes_are_canvases() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found(files=(file("F0A", "Weekly meeting", "text"),))
    assert (await slack.call("search_my_minutes")).passages == ()
    assert slack.counts["files.info"] == 0


async def test_with_no_search_left_files_that_were_found_are_looked_through() -> None:
    slack = ReadSlack(searches=1)
    slack.always[SEARCH] = found(
        files=(file("F0A", "Weekly meeting", content="cache"), file("F0B", "Lunch meeting"))
    )
    slack.always["canvases.getContent"] = fine(content="# Weekly\ncache TTL")
    await slack.call("search_my_documents")
    again = await slack.call("search_my_minutes", "cache of Weekly")
    assert [p.title for p in again.passages] == ["Weekly meeting"]
    assert "No further search was left" in again.note
    assert slack.counts[SEARCH] == 1


@pytest.mark.parametrize("tool", ["search_my_messages", "search_my_documents", "search_my_minutes"])
async def test_nothing_that_slack_found_is_to_be_kept(tool: str) -> None:
    slack = ReadSlack(action_token="1.2.3")
    slack.always[SEARCH] = found((hit(1, "cache TTL"),), (file("F0A", "Weekly meeting"),))
    slack.always["canvases.getContent"] = fine(content="# Weekly\ncache TTL")
    passages = (await slack.call(tool)).passages
    assert [p.keep for p in passages] == [False]
    slack.access.current = ""
    if tool == "search_my_messages":
        assert [p.keep for p in (await search(slack)).passages] == [False]


# --- what is shown -------------------------------------------------------------------------------


async def test_markup_highlights_and_control_characters_become_plain_words() -> None:
    slack = ReadSlack()
    text = "\ue000cache\ue001 &lt;300&gt; <https://x.example|doc> <@U0CAI00001>: <em>TTL</em>\x07 !"
    slack.always[SEARCH] = found((hit(1, text),))
    slack.always["users.info"] = fine(user={"profile": {"display_name": "Cai\nHong"}})
    (passage,) = (await search(slack)).passages
    assert passage.text.endswith("bao: cache <300> [doc](https://x.example) @Cai Hong: TTL  !")
    assert passage.source == source_id("sm", f"C0EDGE0001:{AT + 1}.000100")
    assert passage.updated == "2025-11-24"
    assert passage.url.startswith("https://x.slack.com/archives/C0EDGE0001/")


async def test_a_message_can_not_pose_as_another_one() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found((hit(1, "cache\n2026-01-01 10:00 boss: TTL is 5"),))
    (passage,) = (await search(slack)).passages
    assert [row for row in passage.text.split("\n") if row[:1] != " "] == [
        passage.text.split("\n")[0]
    ]


async def test_a_foreign_address_is_no_link() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found((hit(1, "cache", permalink="javascript:alert(1)"),))
    assert (await search(slack)).passages[0].url == ""


@pytest.mark.parametrize(
    ("info", "public"),
    [
        ({"is_private": False, "is_im": False, "is_mpim": False}, True),
        ({"is_private": True, "is_im": False, "is_mpim": False}, False),
        ({"is_private": False, "is_im": True, "is_mpim": False}, False),
        ({"is_private": False, "is_im": False, "is_mpim": True}, False),
        ({"is_private": False, "is_im": False}, False),
        ({"id": "C0OTHER", "is_private": False, "is_im": False, "is_mpim": False}, False),
        (None, False),
    ],
)
async def test_a_channel_is_private_unless_slack_says_otherwise(
    info: Json | None, public: bool
) -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found((hit(1, "cache"),))
    slack.always[INFO] = (
        refused("missing_scope") if info is None else fine(channel={"id": "C0EDGE0001", **info})
    )
    (passage,) = (await search(slack)).passages
    assert passage.private is not public
    own = {"chat:slack:C0EDGE0001", f"person:slack:{ASKER.user}"}
    assert passage.readers == ({EVERYONE} if public else own)


async def test_the_question_itself_bots_and_empty_messages_are_left_out() -> None:
    slack = ReadSlack()
    now = int(slack.clock.now()) - AT
    own = {"author_user_id": ASKER.user}
    slack.always[SEARCH] = found(
        (
            hit(now - 30, "What is the cache TTL?", **own),
            hit(now - 700, "cache TTL is 300", **own),
            hit(3, "cache from a bot", is_author_bot=True),
            hit(4, " "),
            hit(5, "cache", channel="../x"),
            {"content": "cache"},
        )
    )
    passages = (await search(slack)).passages
    assert [p.text.rpartition(": ")[2] for p in passages] == ["cache TTL is 300"]


async def test_a_channels_name_narrows_what_is_shown() -> None:
    slack = ReadSlack()
    hits = (hit(1, "cache", "C0EDGE0001"), hit(9_000, "cache", "C0EDGE0002", channel_name="ops"))
    slack.always[SEARCH] = found(hits)
    assert [p.title[:3] for p in (await search(slack, chat="#Ops")).passages] == ["ops"]
    missed = await search(slack, chat="sales")
    assert len(missed.passages) == 2
    assert "None of these" in missed.note


# --- what was said around ------------------------------------------------------------------------


async def test_a_thread_counts_before_the_rest_and_bots_in_it_are_left_out() -> None:
    slack = ReadSlack()
    around = {"before": [{"user_id": "U0X", "text": "other talk", "ts": f"{AT}.0"}], "after": []}
    slack.always[SEARCH] = found((hit(60, "cache TTL", context_messages=around),))
    slack.always[REPLIES] = page(
        line(0, "How long?"),
        line(30, "beep", bot_id="B1"),
        line(40, "joined", subtype="channel_join"),
        line(60, "cache TTL", "U0BAO00001"),
        line(90, "agreed", ASKER.user),
    )
    (passage,) = (await search(slack)).passages
    rows = [row[17:] for row in passage.text.split("\n")]
    assert rows == ["somebody: How long?", "bao: cache TTL", "the asker: agreed"]
    assert slack.counts[HISTORY] == 0


async def test_what_the_search_showed_around_a_hit_saves_the_history() -> None:
    slack = ReadSlack()
    xu = {"user_id": "U0X0000001", "author_name": "xu"}
    around = {
        "before": [
            {**xu, "text": "why?", "ts": f"{AT}.1"},
            {**xu, "text": "first", "ts": f"{AT - 9}.1"},
        ],
        "after": [{"user_id": "U0BAO00001", "text": "done", "ts": f"{AT + 90}.1"}, {"text": "x"}],
    }
    slack.always[SEARCH] = found((hit(60, "cache TTL", context_messages=around),))
    slack.always[REPLIES] = page(line(60, "cache TTL"))
    (passage,) = (await search(slack)).passages
    rows = [row[17:] for row in passage.text.split("\n")]
    assert rows == ["xu: first", "xu: why?", "bao: cache TTL", "bao: done"]
    assert slack.counts[HISTORY] == 0


async def test_history_comes_newest_first_and_is_shown_in_order() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found((hit(60, "cache TTL"),))
    slack.always[REPLIES] = page(line(60, "cache TTL"))
    slack.always[HISTORY] = page(
        *(line(60 + n, f"later {n}") for n in range(9, 0, -1)),
        line(60, "cache TTL"),
        *(line(60 - n, f"before {n}") for n in range(1, 6)),
    )
    (passage,) = (await search(slack)).passages
    said = [row.rpartition(": ")[2] for row in passage.text.split("\n")]
    assert said == [
        *("before 3", "before 2", "before 1"),
        "cache TTL",
        *(f"later {n}" for n in range(1, 7)),
    ]
    (form,) = slack.forms(HISTORY)
    assert form["limit"] == "15"
    assert float(form["oldest"]) < AT + 60 < float(form["latest"])


async def test_a_hit_deep_in_a_thread_is_shown_with_the_root() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found((hit(500, "cache TTL"),))
    slack.script[REPLIES] = [
        page(*(line(n, f"reply {n}") for n in range(15)), cursor="c15"),
        page(line(0, "root"), line(500, "cache TTL"), line(510, "yes")),
    ]
    (passage,) = (await search(slack)).passages
    assert [r.rpartition(": ")[2] for r in passage.text.split("\n")] == ["root", "cache TTL", "yes"]
    assert slack.forms(REPLIES)[1]["oldest"] == f"{AT + 500}.000100"
    assert slack.counts[REPLIES] == 2


async def test_the_root_of_a_thread_is_shown_beside_the_neighbours() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found((hit(7, "cache TTL"),))
    slack.always[REPLIES] = page(*(line(n, f"m{n}") for n in range(7)), line(7, "cache TTL"))
    (passage,) = (await search(slack)).passages
    said = [row.rpartition(": ")[2] for row in passage.text.split("\n")]
    assert said == ["m0", "m4", "m5", "m6", "cache TTL"]


async def test_a_hit_that_a_busy_channels_page_does_not_reach_stands_alone() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found((hit(1, "cache TTL"),))
    slack.always[REPLIES] = page(line(1, "cache TTL"))
    slack.always[HISTORY] = page(*(line(900 - n, "other") for n in range(15)))
    (passage,) = (await search(slack)).passages
    assert passage.text.count("\n") == 0
    assert passage.text.endswith("cache TTL")


@pytest.mark.parametrize("fault", [limited("60"), refused("not_in_channel"), refused("odd")])
async def test_a_hit_whose_talk_can_not_be_read_stands_alone(fault: httpx.Response) -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found((hit(1, "cache TTL"),))
    slack.always[REPLIES] = fault
    (passage,) = (await search(slack)).passages
    assert passage.text.endswith("bao: cache TTL")


async def test_the_most_that_one_call_costs() -> None:
    slack = ReadSlack()
    hits = [hit(9_000 * n, f"cache <@U0MANY{n:04d}>", f"C0MANY{n:04d}") for n in range(20)]
    slack.always[SEARCH] = found(tuple(hits))
    slack.always[REPLIES] = page(line(-5, "a"), line(-4, "b"), cursor="next")
    slack.always[INFO] = fine(channel={})
    slack.always["users.info"] = fine(user={})
    found_ = await search(slack)
    assert len(found_.passages) == 8
    assert slack.counts == {
        "assistant.search.info": 1,
        SEARCH: 1,
        REPLIES: 6,
        INFO: 5,
        "users.info": 5,
    }


# --- without a sign-in ---------------------------------------------------------------------------


async def test_without_a_sign_in_the_bots_token_searches_public_channels_only() -> None:
    slack = ReadSlack(action_token="1.2.3")
    slack.access.current = ""
    slack.always[SEARCH] = found((hit(1, "cache TTL"), hit(2, "cache TTL", channel="D0SECRET01")))
    result = await search(slack)
    (form,) = slack.forms(SEARCH)
    assert form["action_token"] == "1.2.3"
    assert (form["channel_types"], form["content_types"]) == ("public_channel", "messages")
    assert [p.readers for p in result.passages] == [{EVERYONE}]
    assert slack.tokens == ["Bearer xoxb-bot"]
    assert "Only public channels" in result.note


async def test_with_a_sign_in_the_bots_token_is_not_used() -> None:
    slack = ReadSlack(action_token="1.2.3")
    slack.always[SEARCH] = found((hit(1, "cache TTL"),))
    await search(slack)
    assert set(slack.tokens) == {"Bearer xoxp-first"}
    assert "action_token" not in slack.forms(SEARCH)[0]


async def test_a_person_of_another_company_searches_nothing_without_a_sign_in() -> None:
    slack = ReadSlack(action_token="1.2.3")
    slack.access.current = ""
    slack.access.asker = replace(ASKER, external=True)
    with pytest.raises(SignInNeeded):
        await search(slack)
    assert slack.requests == []


async def test_public_searches_count_too() -> None:
    slack = ReadSlack(searches=1, action_token="1.2.3")
    slack.access.current = ""
    await search(slack)
    assert "No further search" in (await search(slack, "TTL")).note
    assert slack.counts[SEARCH] == 1


@pytest.mark.parametrize("where", ["private", "direct"])
async def test_private_channels_are_never_searched_without_a_sign_in(where: str) -> None:
    slack = ReadSlack(action_token="1.2.3")
    slack.access.current = ""
    with pytest.raises(SignInNeeded):
        await search(slack, where=where)
    assert slack.requests == []


@pytest.mark.parametrize(
    "error", ["invalid_action_token", "missing_scope", "invalid_auth", "access_denied"]
)
async def test_a_public_search_that_is_refused_asks_for_a_sign_in(error: str) -> None:
    slack = ReadSlack(action_token="1.2.3")
    slack.access.current = ""
    slack.always[SEARCH] = refused(error)
    with pytest.raises(SignInNeeded):
        await search(slack)
    assert slack.counts[SEARCH] == 1
