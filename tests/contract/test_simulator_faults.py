"""The simulator's fault switches, as clients of the platforms meet them."""

import json
import time
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.fakes.simulator_process import RunningSimulator, until

Json = dict[str, Any]
DIRECT = "D0ALICE001"
LARK_DIRECT = "oc_demo_p2p_alice"
BOT = {"Authorization": "Bearer xoxb-demo-bot"}


def tenant_token(simulator: RunningSimulator) -> str:
    body = {"app_id": "cli_demo0000000001", "app_secret": "demo-app-secret"}
    path = "/open-apis/auth/v3/tenant_access_token/internal"
    return str(simulator.client.post(path, json=body).json()["tenant_access_token"])


def lark(simulator: RunningSimulator, method: str, path: str, body: Json | None = None) -> Any:
    headers = {"Authorization": f"Bearer {tenant_token(simulator)}"}
    return simulator.client.request(method, f"/open-apis{path}", json=body, headers=headers)


def post(simulator: RunningSimulator, text: str = "hi") -> httpx.Response:
    body = {"channel": DIRECT, "text": text}
    return simulator.client.post("/api/chat.postMessage", json=body, headers=BOT)


def texts(simulator: RunningSimulator) -> list[str]:
    return [m["text"] for m in simulator.messages("slack", "alice", DIRECT)]


class TestTheBoard:
    def test_a_switch_strikes_so_often_and_is_listed(self, simulator: RunningSimulator) -> None:
        made = simulator.post("faults", {"kind": "status", "path": "/api/chat.*", "count": 2})
        assert [post(simulator).status_code for _ in range(3)] == [503, 503, 200]
        listed = simulator.client.get("/sim/faults").json()
        assert [(one["id"], one["hits"], one["left"]) for one in listed] == [(made["id"], 2, 0)]
        calls = [(c["status"], c["code"]) for c in simulator.get("calls")]
        assert calls == [(503, "status"), (503, "status"), (200, "ok")]

    def test_platform_method_and_path_narrow_it(self, simulator: RunningSimulator) -> None:
        simulator.post("faults", {"kind": "status", "platform": "feishu"})
        assert post(simulator).status_code == 200
        simulator.post("faults", {"kind": "status", "method": "get", "path": "/api/*"})
        assert post(simulator).status_code == 200
        found = simulator.client.get("/api/auth.test", headers=BOT)
        assert found.status_code == 503

    def test_chance_falls_the_same_for_a_seed(self, simulator: RunningSimulator) -> None:
        runs: list[list[int]] = []
        for _ in range(2):
            simulator.reset()
            fault = {"kind": "status", "path": "/api/auth.test", "probability": 0.5, "seed": 7}
            simulator.post("faults", fault)
            answers = [
                simulator.client.post("/api/auth.test", headers=BOT).status_code for _ in range(20)
            ]
            runs.append(answers)
        assert runs[0] == runs[1]
        assert set(runs[0]) == {200, 503}

    def test_switches_go_off_alone_together_and_at_a_reset(
        self, simulator: RunningSimulator
    ) -> None:
        first = simulator.post("faults", {"kind": "status"})["id"]
        simulator.post("faults", {"kind": "html"})
        assert simulator.client.delete("/sim/faults", params={"id": first}).json() == {"removed": 1}
        assert "html" in post(simulator).headers["content-type"]
        assert simulator.client.delete("/sim/faults").json() == {"removed": 1}
        assert post(simulator).status_code == 200
        simulator.post("faults", {"kind": "status"})
        simulator.reset()
        assert simulator.client.get("/sim/faults").json() == []

    @pytest.mark.parametrize(
        "body",
        [
            {"kind": "earthquake"},
            {"kind": "status", "platform": "teams"},
            {"kind": "status", "count": 0},
            {"kind": "status", "probability": 2},
            {"kind": "status", "seed": "x"},
            {"kind": "stream_end", "after": -1},
        ],
    )
    def test_nonsense_is_refused_with_a_sentence(
        self, simulator: RunningSimulator, body: Json
    ) -> None:
        answer = simulator.client.post("/sim/faults", json=body)
        assert (answer.status_code, bool(answer.json()["error"])) == (400, True)


class TestCalls:
    @pytest.mark.parametrize(
        ("form", "shown"), [("seconds", "3"), ("decimal", "3.00"), ("nonsense", "soon")]
    )
    def test_a_limit_names_its_pause(
        self, simulator: RunningSimulator, form: str, shown: str
    ) -> None:
        simulator.post("faults", {"kind": "rate_limit", "form": form, "retry_after": 3})
        answer = post(simulator)
        assert (answer.status_code, answer.json()["error"]) == (429, "ratelimited")
        assert answer.headers["retry-after"] == shown

    def test_a_limit_names_a_moment_or_nothing(self, simulator: RunningSimulator) -> None:
        pauses: list[float] = []
        for form in ("date", "epoch"):
            fault = {"kind": "rate_limit", "form": form, "retry_after": 3, "count": 1}
            simulator.post("faults", fault)
            text = post(simulator).headers["retry-after"]
            moment = float(text) if form == "epoch" else parsedate_to_datetime(text).timestamp()
            pauses.append(moment - time.time())  # noqa: TID251 - the header is of the wall clock
        assert all(0 < pause <= 3.1 for pause in pauses)
        simulator.post("faults", {"kind": "rate_limit", "form": "missing"})
        assert "retry-after" not in post(simulator).headers

    def test_a_limit_of_feishu_has_its_own_header_and_old_endpoints_400(
        self, simulator: RunningSimulator
    ) -> None:
        simulator.post("faults", {"kind": "rate_limit", "path": "*/bot/v3/info", "status": 400})
        answer = lark(simulator, "GET", "/bot/v3/info")
        assert (answer.status_code, answer.json()["code"]) == (400, 99991400)
        assert answer.headers["x-ogw-ratelimit-reset"] == "2"

    def test_slack_sdk_reads_the_limit(self, simulator: RunningSimulator) -> None:
        simulator.post("faults", {"kind": "rate_limit", "count": 1})
        client: Any = WebClient("xoxb-demo-bot", base_url=f"{simulator.origin}/api/")
        with pytest.raises(SlackApiError) as raised:
            client.auth_test()
        limited: Any = raised.value
        assert limited.response.headers["Retry-After"] == "2"

    def test_a_proxy_page(self, simulator: RunningSimulator) -> None:
        simulator.post("faults", {"kind": "html", "status": 502})
        answer = post(simulator)
        assert (answer.status_code, "<html>" in answer.text) == (502, True)

    def test_a_slow_answer_still_comes(self, simulator: RunningSimulator) -> None:
        simulator.post("faults", {"kind": "slow", "seconds": 0.2, "count": 1})
        with pytest.raises(httpx.ReadTimeout):
            simulator.client.post("/api/auth.test", headers=BOT, timeout=0.05)
        assert post(simulator).status_code == 200

    def test_a_lost_answer_of_a_call_that_was_taken(self, simulator: RunningSimulator) -> None:
        simulator.post("faults", {"kind": "drop", "count": 1})
        with pytest.raises(httpx.RemoteProtocolError):
            post(simulator, "taken")
        assert texts(simulator) == ["taken"]

    def test_a_connection_that_dies_before_the_call_is_taken(
        self, simulator: RunningSimulator
    ) -> None:
        simulator.post("faults", {"kind": "drop", "done": False, "count": 1})
        with pytest.raises(httpx.RemoteProtocolError):
            post(simulator, "gone")
        assert texts(simulator) == []

    @pytest.mark.parametrize("shape", ["broken", "list", "empty", "null"])
    def test_wrong_json(self, simulator: RunningSimulator, shape: str) -> None:
        simulator.post("faults", {"kind": "bad_json", "shape": shape})
        answer = post(simulator)
        assert answer.status_code == 200
        try:
            assert not isinstance(answer.json(), dict)
        except json.JSONDecodeError:
            assert shape in ("broken", "empty")

    def test_a_code_in_a_good_status(self, simulator: RunningSimulator) -> None:
        simulator.post("faults", {"kind": "code", "platform": "feishu", "code": 230020})
        answer = simulator.client.get("/open-apis/bot/v3/info")
        assert (answer.status_code, answer.json()["code"]) == (200, 230020)
        simulator.post("faults", {"kind": "code", "platform": "slack", "code": "fatal_error"})
        assert post(simulator).json() == {"ok": False, "error": "fatal_error"}

    def test_a_token_that_dies_once(self, simulator: RunningSimulator) -> None:
        token = tenant_token(simulator)
        fault = {"kind": "token_invalid", "path": "*/bot/v3/info", "count": 1}
        simulator.post("faults", fault)
        headers = {"Authorization": f"Bearer {token}"}
        get = simulator.client.get
        assert get("/open-apis/bot/v3/info", headers=headers).json()["code"] == 99991663
        assert get("/open-apis/bot/v3/info", headers=headers).json()["code"] == 99991663
        assert lark(simulator, "GET", "/bot/v3/info").json()["code"] == 0

    def test_a_scope_that_was_not_given(self, simulator: RunningSimulator) -> None:
        simulator.post("faults", {"kind": "missing_scope", "scope": "cardkit:card:write"})
        answer = lark(simulator, "POST", "/cardkit/v1/cards", {"type": "card_json", "data": "{}"})
        violation = answer.json()["error"]["permission_violations"][0]
        assert (answer.json()["code"], violation["subject"]) == (99991672, "cardkit:card:write")
        assert lark(simulator, "GET", "/bot/v3/info").json()["code"] == 0
        simulator.post("faults", {"kind": "missing_scope", "scope": "chat:write"})
        assert post(simulator).json()["needed"] == "chat:write"


class TestStreams:
    def card(self, simulator: RunningSimulator) -> str:
        elements = [{"tag": "markdown", "element_id": "answer", "content": ""}]
        config = {"streaming_mode": True, "update_multi": True}
        card = {"schema": "2.0", "config": config, "body": {"elements": elements}}
        body = {"type": "card_json", "data": json.dumps(card)}
        return str(lark(simulator, "POST", "/cardkit/v1/cards", body).json()["data"]["card_id"])

    def write(self, simulator: RunningSimulator, card: str, sequence: int) -> int:
        body = {"content": "x" * sequence, "sequence": sequence, "uuid": f"u{sequence}"}
        path = f"/cardkit/v1/cards/{card}/elements/answer/content"
        return int(lark(simulator, "PUT", path, body).json()["code"])

    def test_a_card_sequence_error_strikes_the_next_operation(
        self, simulator: RunningSimulator
    ) -> None:
        card = self.card(simulator)
        fault = {"kind": "card_sequence", "path": "*/elements/*", "count": 1}
        simulator.post("faults", fault)
        assert [self.write(simulator, card, n) for n in (1, 2)] == [300317, 0]

    def test_streaming_ends_at_the_given_time(self, simulator: RunningSimulator) -> None:
        running = self.card(simulator)
        simulator.post("faults", {"kind": "stream_end", "after": 30})
        later = self.card(simulator)
        assert self.write(simulator, running, 1) == self.write(simulator, later, 1) == 0
        simulator.advance(31)
        assert [self.write(simulator, running, n) for n in (2, 3)] == [200850, 300309]
        assert self.write(simulator, later, 2) == 200850
        simulator.client.delete("/sim/faults")
        fresh = self.card(simulator)
        simulator.advance(31)
        assert self.write(simulator, fresh, 1) == 0

    def test_a_slack_stream_ends_at_the_given_time(self, simulator: RunningSimulator) -> None:
        root = simulator.say("slack", "alice", DIRECT, "hello")
        simulator.post("faults", {"kind": "stream_end", "platform": "slack", "after": 10})
        client: Any = WebClient("xoxb-demo-bot", base_url=f"{simulator.origin}/api/")
        ts = client.chat_startStream(channel=DIRECT, thread_ts=root, markdown_text="a")["ts"]
        client.chat_appendStream(channel=DIRECT, ts=ts, markdown_text="b")
        simulator.advance(11)
        with pytest.raises(SlackApiError, match="message_not_in_streaming_state"):
            client.chat_appendStream(channel=DIRECT, ts=ts, markdown_text="c")


def event_ids(simulator: RunningSimulator) -> list[str]:
    """The event ids the bot got from Slack, in the order they came."""
    return [json.loads(one.body)["event_id"] for one in simulator.bot.delivered]


def said(simulator: RunningSimulator) -> list[str]:
    return [json.loads(one.body)["event"]["text"] for one in simulator.bot.delivered]


class TestDeliveries:
    @pytest.mark.parametrize(("new_id", "ids"), [(False, 1), (True, 3)])
    def test_duplicates(self, simulator: RunningSimulator, new_id: bool, ids: int) -> None:
        fault = {"kind": "duplicate", "copies": 2, "new_event_id": new_id, "count": 1}
        simulator.post("faults", fault)
        simulator.say("slack", "alice", DIRECT, "once")
        simulator.wait_for(3)
        assert (len(set(event_ids(simulator))), set(said(simulator))) == (ids, {"once"})
        simulator.say("feishu", "alice", LARK_DIRECT, "single again")
        simulator.wait_for(4)
        assert len(simulator.get("deliveries")) == 4

    def test_out_of_order(self, simulator: RunningSimulator) -> None:
        simulator.post("faults", {"kind": "reorder", "window": 4, "seed": 3})
        for word in "abcd":
            simulator.say("slack", "alice", DIRECT, word)
        simulator.wait_for(4)
        assert sorted(said(simulator)) == list("abcd")
        assert said(simulator) != list("abcd")

    def test_what_is_held_back_comes_when_the_switch_goes_off(
        self, simulator: RunningSimulator
    ) -> None:
        simulator.post("faults", {"kind": "reorder", "window": 9})
        simulator.say("slack", "alice", DIRECT, "held")
        assert simulator.bot.delivered == []
        simulator.client.delete("/sim/faults")
        simulator.wait_for(1)

    def test_lost_answers_bring_the_real_schedule(self, simulator: RunningSimulator) -> None:
        fault = {"kind": "lost_answer", "platform": "feishu", "path": "im.message.*"}
        simulator.post("faults", fault)
        simulator.say("feishu", "alice", LARK_DIRECT, "hello")
        for number, wait in enumerate((15, 300, 3600, 21600), start=1):
            simulator.wait_for(number)
            until(lambda: simulator.get("deliveries")[0]["status"] == "retrying")
            simulator.advance(wait)
        simulator.wait_for(5)
        until(lambda: simulator.get("deliveries")[0]["status"] == "given_up")
        assert simulator.get("deliveries")[0]["answers"] == [0] * 5
