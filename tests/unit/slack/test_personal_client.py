"""Calls with a person's Slack token: which token, how often, and what each fault becomes."""

from __future__ import annotations

import logging

import httpx
import pytest

from agent.errors import ToolFailed
from connectors.access import ScopeMissing, SignInNeeded
from connectors.slack.personal.client import MOST_BYTES
from tests.fakes.slack_reading import ReadSlack, file, fine, found, hit, limited, refused

SEARCH = "assistant.search.context"
ALL = ["search_my_messages", "search_my_documents", "search_my_minutes"]
FILE = {
    "mode": "hosted",
    "mimetype": "text/plain",
    "size": 20,
    "url_private_download": "https://files.slack.com/f",
}


@pytest.mark.parametrize("token", ["", "xoxb-bot", "xapp-1", "xoxe.xoxb-1"])
@pytest.mark.parametrize("tool", ALL)
async def test_without_a_persons_token_nothing_is_sent(token: str, tool: str) -> None:
    slack = ReadSlack()
    slack.access.current = token
    with pytest.raises(SignInNeeded):
        await slack.call(tool)
    assert slack.requests == []


async def test_an_apps_token_in_the_vault_does_not_become_a_public_search() -> None:
    slack = ReadSlack(action_token="1.2.3")
    slack.access.current = "xoxb-bot"
    with pytest.raises(SignInNeeded):
        await slack.call("search_my_messages")
    assert slack.requests == []


@pytest.mark.parametrize(
    "error", ["token_expired", "token_revoked", "invalid_auth", "account_inactive", "not_authed"]
)
@pytest.mark.parametrize("tool", ALL)
async def test_a_refused_token_is_renewed_once(error: str, tool: str) -> None:
    slack = ReadSlack(spares=("xoxp-second", "xoxp-third"))
    slack.script[SEARCH] = [refused(error)]
    await slack.call(tool)
    assert slack.access.refused == ["xoxp-first"]
    assert slack.tokens[-1] == "Bearer xoxp-second"
    assert slack.counts[SEARCH] == 2


async def test_a_new_token_that_is_refused_too_ends_in_a_sign_in() -> None:
    slack = ReadSlack(spares=("xoxp-second", "xoxp-third"))
    slack.always[SEARCH] = refused("token_revoked")
    with pytest.raises(SignInNeeded):
        await slack.call("search_my_messages")
    assert slack.counts[SEARCH] == 2
    assert slack.access.spares == ["xoxp-third"]


async def test_a_renewal_that_fails_ends_in_a_sign_in() -> None:
    slack = ReadSlack()
    slack.dead = {"Bearer xoxp-first"}
    with pytest.raises(SignInNeeded):
        await slack.call("search_my_messages")
    assert len(slack.requests) == 1


async def test_a_missing_scope_names_what_to_ask_for() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = refused("missing_scope", needed="search:read.im,search:read.mpim")
    with pytest.raises(ScopeMissing) as missing:
        await slack.call("search_my_messages")
    assert missing.value.scopes == {"search:read.im", "search:read.mpim"}
    slack = ReadSlack()
    slack.always[SEARCH] = refused("missing_scope")
    with pytest.raises(ScopeMissing, match="one more permission"):
        await slack.call("search_my_messages")


@pytest.mark.parametrize("error", ["access_denied", "no_permission", "ekm_access_denied", "odd"])
async def test_every_other_refusal_is_told_to_the_model(error: str) -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = refused(error)
    with pytest.raises(ToolFailed, match=error) as failed:
        await slack.call("search_my_messages")
    assert failed.value.__cause__ is not None
    assert slack.counts[SEARCH] == 1


async def test_a_named_pause_is_waited_for_within_the_tools_time() -> None:
    slack = ReadSlack()
    slack.script[SEARCH] = [limited("3")]
    start = slack.clock.monotonic()
    await slack.call("search_my_messages")
    assert slack.clock.monotonic() - start == pytest.approx(3.0)
    assert slack.counts[SEARCH] == 2


async def test_a_longer_pause_ends_in_advice() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = limited("40")
    start = slack.clock.monotonic()
    with pytest.raises(ToolFailed, match="ask again in about 40 seconds"):
        await slack.call("search_my_messages")
    assert (slack.counts[SEARCH], slack.clock.monotonic()) == (1, start)


@pytest.mark.parametrize(
    "answer",
    [
        refused("fatal_error"),
        httpx.Response(503, json={"ok": True}),
        httpx.Response(200, html="<html>proxy</html>"),
        refused("ratelimited", headers="none"),
    ],
)
async def test_a_passing_fault_is_tried_twice(answer: httpx.Response) -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = answer
    with pytest.raises(ToolFailed, match="could not be searched"):
        await slack.call("search_my_messages")
    assert slack.counts[SEARCH] == 2


async def test_an_endless_answer_is_given_up() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = httpx.Response(200, content=b" " * (MOST_BYTES + 1))
    with pytest.raises(ToolFailed, match="too long"):
        await slack.call("search_my_messages")


async def test_tokens_and_words_stay_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="connectors")
    slack = ReadSlack(spares=("xoxp-second",))
    slack.script[SEARCH] = [refused("token_expired"), refused("fatal_error")]
    slack.always[SEARCH] = found((hit(1, "canary-words"),))
    await slack.call("search_my_messages", "canary-query")
    assert caplog.records
    assert not any(word in caplog.text for word in ("xoxp", "canary"))


@pytest.mark.parametrize(
    ("info", "answer"),
    [
        ({}, httpx.Response(200, html="<!DOCTYPE html><title>Sign in</title>")),
        ({}, httpx.Response(200, content=b"\n <HTML>x", headers={"content-type": "text/plain"})),
        ({}, httpx.Response(200, html="<p>Sign in")),
        ({}, httpx.Response(404, text="no such file")),
        ({}, httpx.Response(302, headers={"location": "https://evil.example/x"})),
        ({}, httpx.Response(200, content=b"a\x00b", headers={"content-type": "text/plain"})),
        ({"url_private_download": "https://evil.example/f"}, None),
        ({"url_private_download": "http://files.slack.com/f"}, None),
        ({"url_private_download": "https://files.slack.com.evil.example/f"}, None),
        ({"url_private_download": "https://u@files.slack.com/f"}, None),
        ({"mode": "tombstone"}, None),
        ({"mode": "external"}, None),
        ({"mimetype": "application/pdf"}, None),
        ({"size": 1_000_001}, None),
    ],
)
async def test_what_is_no_readable_file_is_shown_as_the_search_showed_it(
    info: dict[str, object], answer: httpx.Response | None
) -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found(files=(file("F0A", "prices.txt", "text"),))
    slack.always["files.info"] = fine(file={**FILE, **info})
    if answer is not None:
        slack.always["f"] = answer
    (passage,) = (await slack.call("search_my_documents")).passages
    assert passage.text == "an excerpt"
    assert slack.counts["f"] == (answer is not None)


async def test_a_text_file_is_read_with_the_askers_token() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found(files=(file("F0A", "prices.txt", "text"),))
    slack.always["files.info"] = fine(file=FILE)
    slack.always["f"] = httpx.Response(200, text="Gearbox: 410 €")
    (passage,) = (await slack.call("search_my_documents")).passages
    assert (passage.text, passage.source[:3]) == ("Gearbox: 410 €", "sf-")
    assert set(slack.tokens) == {"Bearer xoxp-first"}


async def test_a_canvas_that_is_closed_is_left_out() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found(files=(file("F0A", "A"), file("F0B", "B")))
    slack.script["canvases.getContent"] = [refused("canvas_not_found"), fine(content="# B\nb")]
    result = await slack.call("search_my_documents")
    assert [p.title for p in result.passages] == ["B"]
    assert result.note == ""  # nothing says that there is another one
    assert result.passages[0].text == "# B\nb"
    slack.access.current = ""
    with pytest.raises(SignInNeeded):
        await slack.tools["read_my_document"].call({"source": result.passages[0].source})


async def test_a_canvas_without_the_scope_is_said() -> None:
    slack = ReadSlack()
    slack.always[SEARCH] = found(files=(file("F0A", "A"),))
    slack.always["canvases.getContent"] = refused("missing_scope", needed="canvases:read")
    with pytest.raises(ScopeMissing):
        await slack.call("search_my_documents")
