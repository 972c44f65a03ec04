"""The simulated Slack as slack_sdk sees it; its answers are untyped, hence Any."""

import base64
import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier

from tests.fakes.simulator_process import Delivered, RunningSimulator, until

Json = dict[str, Any]
CHANNEL = "C0DEMO0001"
DIRECT = "D0ALICE001"
ALICE = "U0ALICE001"
TEAM = "T0DEMO0001"


def client_of(simulator: RunningSimulator, token: str = "xoxb-demo-bot") -> Any:
    return WebClient(token, base_url=f"{simulator.origin}/api/")


@pytest.fixture
def slack(simulator: RunningSimulator) -> Any:
    return client_of(simulator)


def refusal(call: Any, **arguments: Any) -> Any:
    with pytest.raises(SlackApiError) as raised:
        call(**arguments)
    return raised.value


def error_of(call: Any, **arguments: Any) -> str:
    return str(refusal(call, **arguments).response["error"])


def envelope(delivered: Delivered) -> Json:
    verifier = SignatureVerifier("demo-signing-secret")
    assert verifier.is_valid_request(delivered.body, delivered.headers)
    return json.loads(delivered.body)


class TestTokens:
    def test_bot_and_person(self, simulator: RunningSimulator, slack: Any) -> None:
        assert slack.auth_test()["user_id"] == "U0DEMOBOT"
        assert client_of(simulator, "xoxp-demo-alice").auth_test()["user_id"] == ALICE

    def test_unknown_token(self, simulator: RunningSimulator) -> None:
        assert error_of(client_of(simulator, "xoxb-wrong").auth_test) == "invalid_auth"

    def test_user_only_method_names_the_missing_scope(self, slack: Any) -> None:
        failure = refusal(slack.search_messages, query="x").response
        assert (failure["error"], failure["needed"]) == ("missing_scope", "search:read")

    def test_unknown_method(self, slack: Any) -> None:
        assert error_of(slack.api_call, api_method="no.such") == "unknown_method"

    def test_consent_gives_a_rotating_token(self, simulator: RunningSimulator) -> None:
        back = simulator.client.get(
            "/oauth/v2/authorize", params={"redirect_uri": "http://x/cb", "state": "s", "as": "bob"}
        ).headers["location"]
        code = parse_qs(back.partition("?")[2])["code"][0]
        nobody = client_of(simulator, "")
        granted = nobody.oauth_v2_access(client_id="a", client_secret="b", code=code)
        token = granted["authed_user"]["access_token"]
        assert client_of(simulator, token).auth_test()["user"] == "bob"
        again = {"client_id": "a", "client_secret": "b", "code": code}
        assert error_of(nobody.oauth_v2_access, **again) == "invalid_code"
        simulator.advance(43_201)
        assert error_of(client_of(simulator, token).auth_test) == "token_expired"


class TestEvents:
    def test_direct_message(self, simulator: RunningSimulator) -> None:
        ts = simulator.say("slack", "alice", DIRECT, "Is <VPN> & co down?")
        event = envelope(simulator.wait_for(1)[0])
        inner = event["event"]
        assert event["authorizations"][0]["user_id"] == "U0DEMOBOT"
        assert inner["channel_type"] == "im"
        assert (inner["user"], inner["ts"], inner["event_ts"]) == (ALICE, ts, ts)
        assert inner["text"] == "Is &lt;VPN&gt; &amp; co down?"
        section = inner["blocks"][0]["elements"][0]["elements"]
        assert section == [{"type": "text", "text": "Is <VPN> & co down?"}]
        assert inner["client_msg_id"]

    def test_mention_comes_twice_under_two_event_ids(self, simulator: RunningSimulator) -> None:
        simulator.say("slack", "alice", CHANNEL, "ask @bob", mention=True)
        events = [envelope(one) for one in simulator.wait_for(2)]
        kinds = {event["event"]["type"]: event for event in events}
        assert set(kinds) == {"app_mention", "message"}
        assert len({event["event_id"] for event in events}) == 2
        assert "channel_type" not in kinds["app_mention"]["event"]
        assert kinds["message"]["event"]["channel_type"] == "channel"
        assert kinds["app_mention"]["event"]["text"] == "<@U0DEMOBOT> ask <@U0BOB00001>"
        elements = kinds["message"]["event"]["blocks"][0]["elements"][0]["elements"]
        assert [one["type"] for one in elements] == ["user", "text", "user"]

    def test_thread_reply(self, simulator: RunningSimulator) -> None:
        root = simulator.say("slack", "bob", CHANNEL, "root")
        simulator.say("slack", "alice", CHANNEL, "@Plumbline more", thread=root)
        inner = envelope(simulator.wait_for(3)[-1])["event"]
        assert (inner["thread_ts"], inner["parent_user_id"]) == (root, "U0BOB00001")

    def test_files_are_downloaded_with_the_token_only(self, simulator: RunningSimulator) -> None:
        data = base64.b64encode(b"\x89PNG picture").decode()
        files = [{"name": "shot.png", "media_type": "image/png", "base64": data}]
        simulator.say("slack", "alice", DIRECT, "", files=files)
        inner = envelope(simulator.wait_for(1)[0])["event"]
        assert inner["subtype"] == "file_share"
        url = inner["files"][0]["url_private_download"]
        good = simulator.client.get(url, headers={"Authorization": "Bearer xoxb-demo-bot"})
        assert (good.content, good.headers["content-type"]) == (b"\x89PNG picture", "image/png")
        for headers in ({}, {"Authorization": "Bearer xoxp-demo-bob"}):
            page = simulator.client.get(url, headers=headers)
            assert page.status_code == 200
            assert page.headers["content-type"].startswith("text/html")

    def test_redelivery_names_number_and_reason(self, simulator: RunningSimulator) -> None:
        simulator.bot.status = 500
        simulator.say("slack", "alice", DIRECT, "hello")
        first, second = simulator.wait_for(2)
        assert "X-Slack-Retry-Num" not in first.headers
        assert second.headers["X-Slack-Retry-Num"] == "1"
        assert second.headers["X-Slack-Retry-Reason"] == "http_error"
        assert envelope(first)["event_id"] == envelope(second)["event_id"]
        simulator.advance(60)
        simulator.wait_for(3)
        simulator.bot.status = 200
        simulator.advance(300)
        assert simulator.wait_for(4)[3].headers["X-Slack-Retry-Num"] == "3"
        until(lambda: simulator.get("deliveries")[0]["status"] == "delivered")
        assert simulator.get("deliveries")[0]["tries"] == 4

    def test_edit_and_recall(self, simulator: RunningSimulator) -> None:
        ts = simulator.say("slack", "alice", DIRECT, "Friday?")
        body = {"platform": "slack", "as": "alice", "message": ts}
        simulator.post("edit", {**body, "text": "Monday?"})
        simulator.post("recall", body)
        _, changed, deleted = [envelope(one)["event"] for one in simulator.wait_for(3)]
        assert changed["subtype"] == "message_changed"
        assert changed["message"]["text"] == "Monday?"
        assert changed["previous_message"]["text"] == "Friday?"
        assert "user" not in changed
        assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", ts)

    def test_button_press(self, simulator: RunningSimulator, slack: Any) -> None:
        button = {
            "type": "button",
            "action_id": "go",
            "text": {"type": "plain_text", "text": "Go"},
            "value": "ap-1",
        }
        blocks = [{"type": "actions", "block_id": "b1", "elements": [button]}]
        ts = slack.chat_postMessage(channel=CHANNEL, text="Approve?", blocks=blocks)["ts"]
        press = {"platform": "slack", "as": "alice", "chat": CHANNEL, "message": ts}
        answer = simulator.post("press", {**press, "action": button})
        assert answer == {"answer": {}}
        delivered = simulator.wait_for(1)[0]
        assert delivered.path == "/slack/interactivity"
        verifier = SignatureVerifier("demo-signing-secret")
        assert verifier.is_valid_request(delivered.body, delivered.headers)
        payload = json.loads(parse_qs(delivered.body.decode())["payload"][0])
        assert payload["user"]["id"] == ALICE
        assert payload["container"]["message_ts"] == ts
        assert payload["actions"][0]["block_id"] == "b1"
        assert payload["actions"][0]["value"] == "ap-1"
        done = {"replace_original": True, "text": "Done"}
        simulator.client.post(payload["response_url"], json=done).raise_for_status()
        assert simulator.message("slack", "bob", CHANNEL, ts)["text"] == "Done"

    def test_command(self, simulator: RunningSimulator) -> None:
        simulator.bot.answer = json.dumps({"text": "On it"}).encode()
        ask = {"as": "alice", "chat": CHANNEL, "command": "/plumb", "text": 'a & "b"'}
        assert simulator.post("command", ask) == {"answer": {"text": "On it"}}
        fields = parse_qs(simulator.wait_for(1)[0].body.decode())
        assert fields["text"] == ['a & "b"']
        later = simulator.client.post(fields["response_url"][0], json={"text": "later"})
        later.raise_for_status()
        assert [m["text"] for m in simulator.messages("slack", "alice", CHANNEL)][-2:] == [
            "On it",
            "later",
        ]
        assert simulator.messages("slack", "bob", CHANNEL)[-1]["text"] not in ("On it", "later")


class TestPosting:
    def test_post_update_delete(self, simulator: RunningSimulator, slack: Any) -> None:
        ts = slack.chat_postMessage(
            channel=CHANNEL,
            text="one",
            metadata={"event_type": "turn", "event_payload": {"id": "t1"}},
        )["ts"]
        slack.chat_update(channel=CHANNEL, ts=ts, text="two")
        shown = simulator.message("slack", "alice", CHANNEL, ts)
        assert (shown["text"], shown["edited"], shown["author"]["name"]) == ("two", 1, "Plumbline")
        found = slack.conversations_history(channel=CHANNEL, limit=1, include_all_metadata=True)
        assert found["messages"][0]["metadata"]["event_payload"] == {"id": "t1"}
        slack.chat_delete(channel=CHANNEL, ts=ts)
        assert error_of(slack.chat_update, channel=CHANNEL, ts=ts, text="x") == "message_not_found"

    @pytest.mark.parametrize(
        ("blocks", "error"),
        [
            (
                [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}],
                "invalid_blocks",
            ),
            ([{"type": "divider"}] * 51, "invalid_blocks"),
            ([{"type": "markdown", "text": "x" * 12_001}], "invalid_blocks"),
            (
                [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2900}}] * 5,
                "msg_blocks_too_long",
            ),
            ([{"type": "nonsense"}], "invalid_blocks"),
        ],
    )
    def test_block_limits(self, slack: Any, blocks: list[Json], error: str) -> None:
        arguments = {"channel": CHANNEL, "text": "t", "blocks": blocks}
        assert error_of(slack.chat_postMessage, **arguments) == error

    def test_wrong_places(self, slack: Any) -> None:
        post = slack.chat_postMessage
        assert error_of(post, channel="C0NOWHERE", text="x") == "channel_not_found"
        assert error_of(post, channel="D0DEMO0011", text="x") == "channel_not_found"
        assert error_of(post, channel=CHANNEL, text="x", thread_ts="1.1") == "thread_not_found"
        empty = {"api_method": "chat.postMessage", "json": {"channel": CHANNEL}}
        assert error_of(slack.api_call, **empty) == "no_text"

    def test_posts_are_limited_by_channel(self, simulator: RunningSimulator, slack: Any) -> None:
        def burst() -> None:
            for _ in range(9):
                slack.chat_postMessage(channel=CHANNEL, text="x")

        refused = refusal(burst).response
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) >= 1
        simulator.advance(1)
        slack.chat_postMessage(channel=CHANNEL, text="x")

    def test_updates_are_limited_to_50_a_minute(
        self, simulator: RunningSimulator, slack: Any
    ) -> None:
        ts = slack.chat_postMessage(channel=CHANNEL, text="x")["ts"]
        for _ in range(50):
            slack.chat_update(channel=CHANNEL, ts=ts, text="x")
        assert error_of(slack.chat_update, channel=CHANNEL, ts=ts, text="x") == "ratelimited"
        simulator.advance(60)
        slack.chat_update(channel=CHANNEL, ts=ts, text="x")

    def test_ephemeral_is_for_one_person(self, simulator: RunningSimulator, slack: Any) -> None:
        ts = slack.chat_postEphemeral(channel=CHANNEL, user=ALICE, text="psst")["message_ts"]
        assert simulator.message("slack", "alice", CHANNEL, ts)["visible_to"] == "alice"
        assert ts not in [m["id"] for m in simulator.messages("slack", "bob", CHANNEL)]
        history = slack.conversations_history(channel=CHANNEL)["messages"]
        assert ts not in [m["ts"] for m in history]
        stranger = {"channel": "C0DEMO0002", "user": "U0DANA0001", "text": "x"}
        assert error_of(slack.chat_postEphemeral, **stranger) == "user_not_in_channel"

    def test_reaction_and_status(self, simulator: RunningSimulator, slack: Any) -> None:
        ts = simulator.say("slack", "alice", DIRECT, "hello")
        slack.reactions_add(channel=DIRECT, timestamp=ts, name="eyes")
        twice = {"channel": DIRECT, "timestamp": ts, "name": "eyes"}
        assert error_of(slack.reactions_add, **twice) == "already_reacted"
        slack.assistant_threads_setStatus(channel_id=DIRECT, thread_ts=ts, status="is thinking…")
        shown = simulator.message("slack", "alice", DIRECT, ts)
        assert shown["reactions"] == [{"name": "eyes", "by": ["Plumbline"]}]
        assert shown["status"] == "is thinking…"
        slack.chat_postMessage(channel=DIRECT, thread_ts=ts, text="here")
        shown = simulator.message("slack", "alice", DIRECT, ts)
        assert (shown["status"], shown["replies"]) == ("", 1)


class TestStreams:
    def begin(self, slack: Any, thread: str) -> str:
        return slack.chat_startStream(
            channel=CHANNEL,
            thread_ts=thread,
            recipient_team_id=TEAM,
            recipient_user_id=ALICE,
            markdown_text="The ",
        )["ts"]

    def test_helper_streams_one_message(self, simulator: RunningSimulator, slack: Any) -> None:
        root = simulator.say("slack", "alice", CHANNEL, "q")
        stream = slack.chat_stream(
            buffer_size=4,
            channel=CHANNEL,
            thread_ts=root,
            recipient_team_id=TEAM,
            recipient_user_id=ALICE,
        )
        stream.append(markdown_text="The **travel** ")
        shown = simulator.messages("slack", "bob", CHANNEL, thread=root)[-1]
        assert (shown["kind"], shown["streaming"], shown["thread"]) == ("stream", True, root)
        stream.append(markdown_text="policy")
        stream.stop(blocks=[{"type": "divider"}])
        shown = simulator.messages("slack", "bob", CHANNEL, thread=root)[-1]
        assert (shown["text"], shown["streaming"]) == ("The **travel** policy", False)
        assert [block["type"] for block in shown["blocks"]] == ["markdown", "divider"]

    def test_platform_closes_after_five_minutes(
        self, simulator: RunningSimulator, slack: Any
    ) -> None:
        ts = self.begin(slack, simulator.say("slack", "alice", CHANNEL, "q"))
        simulator.advance(299)
        slack.chat_appendStream(channel=CHANNEL, ts=ts, markdown_text="more")
        simulator.advance(2)
        late = {"channel": CHANNEL, "ts": ts, "markdown_text": "late"}
        assert error_of(slack.chat_appendStream, **late) == "message_not_in_streaming_state"
        ended = "message_not_in_streaming_state"
        assert error_of(slack.chat_stopStream, channel=CHANNEL, ts=ts) == ended
        slack.chat_update(channel=CHANNEL, ts=ts, text="whole answer")
        shown = simulator.message("slack", "alice", CHANNEL, ts)
        assert (shown["text"], shown["streaming"]) == ("whole answer", False)

    def test_wrong_starts(self, simulator: RunningSimulator, slack: Any) -> None:
        root = simulator.say("slack", "alice", CHANNEL, "q")
        start = slack.api_call
        channel = {"channel": CHANNEL, "thread_ts": root}
        assert error_of(start, api_method="chat.startStream", json={"channel": CHANNEL}) == (
            "invalid_arguments"
        )
        assert error_of(start, api_method="chat.startStream", json=channel) == "missing_recipient"
        ts = self.begin(slack, root)
        long = {"channel": CHANNEL, "ts": ts, "markdown_text": "x" * 12_001}
        assert error_of(slack.chat_appendStream, **long) == "msg_too_long"


class TestReading:
    def test_replies_come_in_pages(self, simulator: RunningSimulator, slack: Any) -> None:
        root = simulator.say("slack", "alice", CHANNEL, "root")
        for number in range(5):
            simulator.say("slack", "alice", CHANNEL, f"reply {number}", thread=root)
        seen: list[str] = []
        for page in slack.conversations_replies(channel=CHANNEL, ts=root, limit=3):
            seen += [message["text"] for message in page["messages"] if message["ts"] != root]
        assert seen == [f"reply {number}" for number in range(5)]

    def test_people_and_channels(self, slack: Any) -> None:
        assert slack.users_info(user=ALICE)["user"]["profile"]["title"].startswith("Solutions")
        assert slack.conversations_info(channel=CHANNEL)["channel"]["name"] == "all-hands"
        assert "U0DEMOBOT" in slack.conversations_members(channel=CHANNEL)["members"]
        assert slack.conversations_open(users=ALICE)["channel"]["id"] == DIRECT

    def test_upload(self, simulator: RunningSimulator, slack: Any) -> None:
        slack.files_upload_v2(channel=CHANNEL, filename="a.txt", content="hello")
        shown = simulator.messages("slack", "alice", CHANNEL)[-1]
        assert simulator.client.get(shown["files"][0]["url"]).content == b"hello"

    def test_search_sees_what_the_person_sees(self, simulator: RunningSimulator) -> None:
        query = {"query": "retention bonus competitor offer", "channel_types": "private_channel"}
        found = {
            login: client_of(simulator, f"xoxp-demo-{login}").assistant_search_context(**query)
            for login in ("dana", "alice")
        }
        assert found["dana"]["results"]["messages"][0]["channel_id"] == "C0DEMO0005"
        assert found["alice"]["results"]["messages"] == []

    def test_bot_search_needs_the_action_token(
        self, simulator: RunningSimulator, slack: Any
    ) -> None:
        search = slack.assistant_search_context
        assert error_of(search, query="firmware") == "missing_action_token"
        simulator.say("slack", "alice", DIRECT, "hi")
        token = envelope(simulator.wait_for(1)[0])["event"]["assistant_thread"]["action_token"]
        answer = search(query="CE testing slot lab", action_token=token)
        hit = answer["results"]["messages"][0]
        assert hit["channel_id"] == "C0DEMO0002"
        simulator.advance(601)
        assert error_of(search, query="x", action_token=token) == "invalid_action_token"

    def test_search_has_a_limit(self, simulator: RunningSimulator) -> None:
        info = client_of(simulator, "xoxp-demo-chen").assistant_search_info
        for _ in range(20):
            assert info()["is_ai_search_enabled"] is False
        limited = refusal(info).response
        assert (limited["error"], limited.status_code) == ("ratelimited", 429)
        assert 1 <= int(limited.headers["Retry-After"]) <= 60

    def test_a_hit_comes_with_its_neighbours_when_asked_for(
        self, simulator: RunningSimulator
    ) -> None:
        search = client_of(simulator, "xoxp-demo-chen").assistant_search_context
        wanted = {"query": "CE testing slot slipped", "include_context_messages": True}
        around = search(**wanted)["results"]["messages"][0]["context_messages"]
        assert around["before"][-1]["user_id"] == "U0CHEN0001"
        assert around["after"][0]["user_id"] == ALICE
        assert "context_messages" not in search(query="CE testing")["results"]["messages"][0]

    def test_a_files_search_shows_no_files_of_others(
        self, simulator: RunningSimulator, slack: Any
    ) -> None:
        slack.files_upload_v2(channel=DIRECT, filename="gearbox.txt", content="GX-7")
        for login, seen in (("alice", ["gearbox.txt"]), ("bob", [])):
            search = client_of(simulator, f"xoxp-demo-{login}").assistant_search_context
            hits = search(query="gearbox GX-7", content_types="files")["results"]["files"]
            assert [hit["title"] for hit in hits] == seen

    def test_canvases(self, simulator: RunningSimulator) -> None:
        chen = client_of(simulator, "xoxp-demo-chen")
        files = chen.assistant_search_context(query="X-300", content_types="files")
        for hit in files["results"]["files"]:
            content = chen.api_call("canvases.getContent", json={"canvas_id": hit["file_id"]})
            assert content["content"].startswith(f"# {hit['title']}")
        missing = {"api_method": "canvases.getContent", "json": {"canvas_id": "F0NONE"}}
        assert error_of(chen.api_call, **missing) == "canvas_not_found"
