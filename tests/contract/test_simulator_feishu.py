"""The simulated Feishu as lark_oapi sees it."""

import base64
import importlib
import json
import time
from typing import Any

import pytest

from tests.fakes.simulator_process import Delivered, RunningSimulator, until

Json = dict[str, Any]
DIRECT = "oc_demo_p2p_alice"
GROUP = "oc_demo_all_hands"
TOPICS = "oc_demo_starfleet_ops"
CARD = {
    "schema": "2.0",
    "config": {"streaming_mode": True, "update_multi": True},
    "body": {"elements": [{"tag": "markdown", "element_id": "answer", "content": ""}]},
}
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n\n"


class TokenCache:
    """A cache of its own: the SDK's is shared by the process, a reset simulator forgets tokens."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def get(self, key: str) -> str:
        return self.kept.get(key, "")

    def set(self, key: str, value: str, _expire: int) -> None:
        self.kept[key] = value


class Lark:
    """lark_oapi against one simulator; its classes are untyped, so Any is let in here only."""

    def __init__(self, sdk: Any, im: Any, card: Any, simulator: RunningSimulator) -> None:
        self.sdk, self.im, self.cardkit, self.simulator = sdk, im, card, simulator
        self.client = (
            sdk.Client.builder()
            .app_id("cli_demo0000000001")
            .app_secret("demo-app-secret")
            .domain(simulator.origin)
            .oauth_base_url(simulator.origin)
            .enable_set_token(True)
            .cache(TokenCache())
            .log_level(sdk.LogLevel.CRITICAL)
            .build()
        )

    def send(self, chat: str, text: str, uuid: str | None = None) -> Any:
        body = self.im.CreateMessageRequestBody.builder().receive_id(chat).msg_type("text")
        body = body.content(json.dumps({"text": text}))
        request = self.im.CreateMessageRequest.builder().receive_id_type("chat_id")
        request = request.request_body((body.uuid(uuid) if uuid else body).build())
        return self.client.im.v1.message.create(request.build())

    def reply(self, message_id: str, msg_type: str, content: Json, **more: Any) -> Any:
        body = self.im.ReplyMessageRequestBody.builder().msg_type(msg_type)
        body = body.content(json.dumps(content))
        if "in_thread" in more:
            body = body.reply_in_thread(more["in_thread"])
        request = self.im.ReplyMessageRequest.builder().message_id(message_id)
        return self.client.im.v1.message.reply(request.request_body(body.build()).build())

    def create_card(self, card: Json) -> Any:
        body = self.cardkit.CreateCardRequestBody.builder().type("card_json")
        body = body.data(json.dumps(card)).build()
        request = self.cardkit.CreateCardRequest.builder().request_body(body).build()
        return self.client.cardkit.v1.card.create(request)

    def stream(self, card_id: str, text: str, sequence: int, element: str = "answer") -> Any:
        body = self.cardkit.ContentCardElementRequestBody.builder().content(text)
        body = body.sequence(sequence).uuid(f"u-{sequence}-{len(text)}").build()
        request = self.cardkit.ContentCardElementRequest.builder().card_id(card_id)
        request = request.element_id(element).request_body(body).build()
        return self.client.cardkit.v1.card_element.content(request)

    def settings(self, card_id: str, sequence: int, *, streaming: bool) -> Any:
        config = json.dumps({"config": {"streaming_mode": streaming}})
        body = self.cardkit.SettingsCardRequestBody.builder().settings(config)
        request = self.cardkit.SettingsCardRequest.builder().card_id(card_id)
        request = request.request_body(body.sequence(sequence).build()).build()
        return self.client.cardkit.v1.card.settings(request)

    def raw(self, method: str, uri: str, body: Json | None, token: str) -> Json:
        """Call as a person, past the typed models."""
        answer = self.simulator.client.request(
            method,
            f"/open-apis{uri}",
            json=body,
            headers={"Authorization": f"Bearer {token}"},
        )
        return answer.json()

    def app_token(self) -> str:
        answer = self.simulator.client.post(
            "/open-apis/auth/v3/tenant_access_token/internal",
            json={"app_id": "cli_demo0000000001", "app_secret": "demo-app-secret"},
        )
        return str(answer.json()["tenant_access_token"])

    def read_event(self, delivered: Delivered, register: str) -> Any:
        """Run a delivery through the SDK's dispatcher and return the typed event."""
        seen: list[Any] = []

        def keep(event: Any) -> Json:
            seen.append(event)
            return {}

        dispatcher = importlib.import_module("lark_oapi.event.dispatcher_handler")
        builder = dispatcher.EventDispatcherHandler.builder(
            "demo-encrypt-key", "demo-verification-token"
        )
        handler = getattr(builder, register)(keep).build()
        raw = self.sdk.RawRequest()
        raw.uri, raw.headers, raw.body = delivered.path, delivered.headers, delivered.body
        answer = handler.do(raw)
        assert answer.status_code == 200, answer.content
        return seen[0]


@pytest.fixture(scope="module")
def sdk() -> tuple[Any, Any, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONWARNINGS", "ignore")
        return (
            importlib.import_module("lark_oapi"),
            importlib.import_module("lark_oapi.api.im.v1"),
            importlib.import_module("lark_oapi.api.cardkit.v1"),
        )


@pytest.fixture
def lark(sdk: tuple[Any, Any, Any], simulator: RunningSimulator) -> Lark:
    return Lark(*sdk, simulator)


class TestTokens:
    def test_wrong_and_expired_tokens(self, lark: Lark) -> None:
        assert lark.raw("GET", "/bot/v3/info", None, "t-wrong")["code"] == 99991663
        assert lark.raw("GET", "/authen/v1/user_info", None, "u-wrong")["code"] == 99991668
        token = lark.app_token()
        assert lark.raw("GET", "/bot/v3/info", None, token)["bot"]["open_id"] == "ou_demo_bot"
        lark.simulator.advance(7201)
        assert lark.raw("GET", "/bot/v3/info", None, token)["code"] == 99991663

    def test_person(self, lark: Lark) -> None:
        info = lark.raw("GET", "/authen/v1/user_info", None, "u-demo-chen")
        assert info["data"]["open_id"] == "ou_demo_chen"

    def test_sign_in_gives_a_refresh_token_that_works_once(self, lark: Lark) -> None:
        query = {"client_id": "cli_demo0000000001", "redirect_uri": "http://x/cb", "as": "bob"}
        page = lark.simulator.client.get("/open-apis/authen/v1/authorize", params=query)
        code = page.headers["location"].partition("code=")[2].partition("&")[0]
        secrets = {"client_id": "cli_demo0000000001", "client_secret": "demo-app-secret"}
        grant = {"grant_type": "authorization_code", "code": code, **secrets}
        first = lark.simulator.client.post("/oauth/v3/token", json=grant).json()
        info = lark.raw("GET", "/authen/v1/user_info", None, first["access_token"])
        assert info["data"]["name"] == "Bob Carter"
        again = {
            "grant_type": "refresh_token",
            "refresh_token": first["refresh_token"],
            **secrets,
        }
        path = "/open-apis/authen/v2/oauth/token"
        assert lark.simulator.client.post(path, json=again).json()["code"] == 0
        assert lark.simulator.client.post(path, json=again).json()["code"] == 20064


class TestEvents:
    def test_direct_message(self, lark: Lark) -> None:
        message_id = lark.simulator.say("feishu", "alice", DIRECT, "Where is the policy?")
        delivered = lark.simulator.wait_for(1)[0]
        assert set(json.loads(delivered.body)) == {"encrypt"}
        event = lark.read_event(delivered, "register_p2_im_message_receive_v1")
        assert event.header.tenant_key == "tenant_demo"
        assert event.event.sender.sender_id.open_id == "ou_demo_alice"
        message = event.event.message
        assert (message.message_id, message.chat_type) == (message_id, "p2p")
        assert json.loads(message.content) == {"text": "Where is the policy?"}
        assert message.mentions is None

    def test_group_only_when_mentioned(self, lark: Lark) -> None:
        lark.simulator.say("feishu", "alice", GROUP, "not for the bot")
        lark.simulator.say("feishu", "alice", GROUP, "ask @bob", mention=True)
        event = lark.read_event(lark.simulator.wait_for(1)[0], "register_p2_im_message_receive_v1")
        message = event.event.message
        assert json.loads(message.content) == {"text": "@_user_1 ask @_user_2"}
        assert [one.id.open_id for one in message.mentions] == ["ou_demo_bot", "ou_demo_bob"]
        assert len(lark.simulator.get("deliveries")) == 1

    def test_topic(self, lark: Lark) -> None:
        root = lark.simulator.say("feishu", "bob", TOPICS, "topic")
        lark.simulator.say("feishu", "bob", TOPICS, "and?", thread=root, mention=True)
        event = lark.read_event(lark.simulator.wait_for(1)[0], "register_p2_im_message_receive_v1")
        message = event.event.message
        assert (message.root_id, message.parent_id) == (root, root)
        assert message.thread_id.startswith("omt_")

    def test_pictures_and_files(self, lark: Lark) -> None:
        def file(name: str, media: str) -> Json:
            return {"name": name, "media_type": media, "base64": base64.b64encode(b"x1").decode()}

        picture, paper = file("a.png", "image/png"), file("b.pdf", "application/pdf")
        lark.simulator.say("feishu", "alice", DIRECT, "", files=[picture])
        lark.simulator.say("feishu", "alice", DIRECT, "look", files=[picture, paper])
        types: dict[str, Any] = {}
        for delivered in lark.simulator.wait_for(3):
            event = lark.read_event(delivered, "register_p2_im_message_receive_v1")
            types[event.event.message.message_type] = event.event.message
        assert set(types) == {"image", "post", "file"}
        rows = json.loads(types["post"].content)["content"]
        assert [row[0]["tag"] for row in rows] == ["text", "img"]
        for message, key, kind in (
            (types["image"], json.loads(types["image"].content)["image_key"], "image"),
            (types["post"], rows[1][0]["image_key"], "image"),
            (types["file"], json.loads(types["file"].content)["file_key"], "file"),
        ):
            request = lark.im.GetMessageResourceRequest.builder().message_id(message.message_id)
            answer = lark.client.im.v1.message_resource.get(
                request.file_key(key).type(kind).build()
            )
            assert answer.success()
            assert answer.file.read() == b"x1"

    def test_redelivery_on_the_simulated_clock(self, lark: Lark) -> None:
        lark.simulator.bot.status = 500
        lark.simulator.say("feishu", "alice", DIRECT, "hello")
        for tries, seconds in ((1, 15), (2, 300), (3, 3600), (4, 21600)):
            lark.simulator.wait_for(tries)
            until(lambda: lark.simulator.get("deliveries")[0]["status"] == "retrying")
            time.sleep(0.05)
            lark.simulator.advance(seconds)
        ids = {
            lark.read_event(one, "register_p2_im_message_receive_v1").header.event_id
            for one in lark.simulator.wait_for(5)
        }
        assert len(ids) == 1
        until(lambda: lark.simulator.get("deliveries")[0]["status"] == "given_up")

    def test_recall(self, lark: Lark) -> None:
        message_id = lark.simulator.say("feishu", "alice", DIRECT, "oops")
        recall = {"platform": "feishu", "as": "alice", "message": message_id}
        lark.simulator.post("recall", recall)
        delivered = lark.simulator.wait_for(2)[1]
        event = lark.read_event(delivered, "register_p2_im_message_recalled_v1")
        assert event.event.message_id == message_id
        assert lark.reply(message_id, "text", {"text": "x"}).code == 230011

    def test_merged_forward(self, lark: Lark) -> None:
        source = lark.simulator.messages("feishu", "alice", GROUP)[:2]
        forward = {"as": "alice", "chat": DIRECT, "messages": [one["id"] for one in source]}
        merged = lark.simulator.post("forward", forward)["message"]
        request = lark.im.GetMessageRequest.builder().message_id(merged).build()
        items = lark.client.im.v1.message.get(request).data.items
        assert [item.upper_message_id for item in items] == [None, merged, merged]
        assert items[0].body.content == "Merged and Forwarded Message"
        assert json.loads(items[1].body.content)["text"] == source[0]["text"]

    def test_button_press(self, lark: Lark) -> None:
        card = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": "Go?"}]}}
        asked = lark.simulator.say("feishu", "alice", DIRECT, "q")
        message_id = lark.reply(asked, "interactive", card).data.message_id
        done = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": "Done"}]}}
        toast = {"type": "success", "content": "ok"}
        lark.simulator.bot.answer = json.dumps(
            {"toast": toast, "card": {"type": "raw", "data": done}}
        ).encode()
        press = {"platform": "feishu", "as": "alice", "chat": DIRECT, "message": message_id}
        action = {"behaviors": [{"type": "callback", "value": {"vote": "up"}}]}
        answer = lark.simulator.post("press", {**press, "action": action})["answer"]
        assert answer["toast"] == toast
        assert lark.simulator.message("feishu", "alice", DIRECT, message_id)["card"] == done
        event = lark.read_event(lark.simulator.wait_for(2)[1], "register_p2_card_action_trigger")
        assert event.event.action.value == {"vote": "up"}
        assert event.event.operator.open_id == "ou_demo_alice"
        assert event.event.context.open_message_id == message_id
        late = {"token": event.event.token, "card": CARD}
        codes = [
            lark.raw("POST", "/interactive/v1/card/update", late, lark.app_token())["code"]
            for _ in range(3)
        ]
        assert codes == [0, 0, 300000]


class TestMessages:
    def test_reply_quotes_in_the_flow_and_opens_a_topic_when_asked(self, lark: Lark) -> None:
        asked = lark.simulator.say("feishu", "alice", DIRECT, "q")
        plain = lark.reply(asked, "text", {"text": "a"}).data
        assert (plain.root_id, plain.parent_id, plain.thread_id) == (asked, asked, None)
        topic = lark.reply(asked, "text", {"text": "a"}, in_thread=True).data
        assert topic.thread_id.startswith("omt_")
        shown = lark.simulator.messages("feishu", "alice", DIRECT)
        assert [(m["thread"], m["root"]) for m in shown[1:]] == [(None, True), (asked, False)]

    def test_uuid_sends_once_in_an_hour(self, lark: Lark) -> None:
        first = lark.send(GROUP, "x", uuid="turn-1").data.message_id
        assert lark.send(GROUP, "x", uuid="turn-1").data.message_id == first
        lark.simulator.advance(3601)
        assert lark.send(GROUP, "x", uuid="turn-1").data.message_id != first

    def test_five_a_second_for_one_chat(self, lark: Lark) -> None:
        answers = [lark.send(GROUP, "x") for _ in range(7)]
        refused = [answer for answer in answers if answer.code == 99991400]
        assert refused
        assert refused[0].raw.status_code == 429
        assert int(refused[0].raw.headers["x-ogw-ratelimit-reset"]) >= 1

    def test_refusals(self, lark: Lark) -> None:
        assert lark.send("oc_demo_dm_alice_bob", "x").code == 230002
        assert lark.reply("om_nothing", "text", {"text": "x"}).code == 231003
        asked = lark.simulator.say("feishu", "alice", DIRECT, "q")
        assert lark.reply(asked, "text", {"wrong": "x"}).code == 230001
        six = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": TABLE * 6}]}}
        refused = lark.reply(asked, "interactive", six)
        assert refused.code == 230099
        assert "ErrCode: 11310" in refused.msg
        fenced = f"{TABLE * 5}```\n{TABLE}```"
        five = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": fenced}]}}
        assert lark.reply(asked, "interactive", five).success()

    def test_patch_and_edit(self, lark: Lark) -> None:
        asked = lark.simulator.say("feishu", "alice", DIRECT, "q")
        message_id = lark.reply(asked, "interactive", CARD).data.message_id
        new = json.dumps({**CARD, "body": {"elements": [{"tag": "markdown", "content": "n"}]}})
        body = lark.im.PatchMessageRequestBody.builder().content(new).build()
        request = lark.im.PatchMessageRequest.builder().message_id(message_id).request_body(body)
        assert lark.client.im.v1.message.patch(request.build()).success()
        assert lark.simulator.message("feishu", "alice", DIRECT, message_id)["text"] == "n"
        token = lark.app_token()
        text = lark.send(DIRECT, "one").data.message_id
        edit = {"msg_type": "text", "content": json.dumps({"text": "two"})}
        codes = [lark.raw("PUT", f"/im/v1/messages/{text}", edit, token)["code"] for _ in range(21)]
        assert codes == [0] * 20 + [230072]

    def test_reaction(self, lark: Lark) -> None:
        asked = lark.simulator.say("feishu", "alice", DIRECT, "q")
        kind = lark.im.Emoji.builder().emoji_type("OnIt").build()
        body = lark.im.CreateMessageReactionRequestBody.builder().reaction_type(kind).build()
        request = lark.im.CreateMessageReactionRequest.builder().message_id(asked)
        answer = lark.client.im.v1.message_reaction.create(request.request_body(body).build())
        assert answer.data.reaction_type.emoji_type == "OnIt"
        shown = lark.simulator.message("feishu", "alice", DIRECT, asked)
        assert shown["reactions"] == [{"name": "OnIt", "by": ["Plumbline"]}]
        gone = lark.im.DeleteMessageReactionRequest.builder().message_id(asked)
        gone = gone.reaction_id(answer.data.reaction_id).build()
        assert lark.client.im.v1.message_reaction.delete(gone).success()


class TestCards:
    def begin(self, lark: Lark) -> tuple[str, str]:
        asked = lark.simulator.say("feishu", "alice", DIRECT, "q")
        card_id = lark.create_card(CARD).data.card_id
        sent = lark.reply(asked, "interactive", {"type": "card", "data": {"card_id": card_id}})
        return card_id, sent.data.message_id

    def test_text_streams_in_and_ends(self, lark: Lark) -> None:
        card_id, message_id = self.begin(lark)
        assert lark.stream(card_id, "The travel", 1).success()
        shown = lark.simulator.message("feishu", "alice", DIRECT, message_id)
        assert (shown["kind"], shown["streaming"], shown["text"]) == ("card", True, "The travel")
        assert lark.settings(card_id, 2, streaming=False).success()
        shown = lark.simulator.message("feishu", "alice", DIRECT, message_id)
        assert shown["streaming"] is False

    def test_sequence_must_rise(self, lark: Lark) -> None:
        card_id, _ = self.begin(lark)
        assert lark.stream(card_id, "a", 0).code == 300317
        assert lark.stream(card_id, "a", 5).success()
        assert lark.stream(card_id, "ab", 5).code == 300317
        assert lark.stream(card_id, "abc", 6).success()
        assert lark.stream(card_id, "x", 7, element="nobody").code == 300313

    def test_streaming_ends_after_ten_minutes(self, lark: Lark) -> None:
        card_id, message_id = self.begin(lark)
        lark.simulator.advance(599)
        assert lark.stream(card_id, "a", 1).success()
        lark.simulator.advance(2)
        shown = lark.simulator.message("feishu", "alice", DIRECT, message_id)
        assert shown["streaming"] is False
        assert [lark.stream(card_id, "ab", n).code for n in (2, 3)] == [200850, 300309]
        assert lark.settings(card_id, 4, streaming=True).success()
        assert lark.stream(card_id, "abc", 5).success()

    def test_whole_card_after_the_end(self, lark: Lark) -> None:
        card_id, message_id = self.begin(lark)
        lark.simulator.advance(601)
        final = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": "all"}]}}
        card = lark.cardkit.Card.builder().type("card_json").data(json.dumps(final)).build()
        body = lark.cardkit.UpdateCardRequestBody.builder().card(card).sequence(9).build()
        request = lark.cardkit.UpdateCardRequest.builder().card_id(card_id).request_body(body)
        assert lark.client.cardkit.v1.card.update(request.build()).success()
        assert lark.simulator.message("feishu", "alice", DIRECT, message_id)["card"] == final

    def test_an_entity_is_sent_once(self, lark: Lark) -> None:
        card_id, message_id = self.begin(lark)
        content = {"type": "card", "data": {"card_id": card_id}}
        assert lark.reply(message_id, "interactive", content).code == 230099

    def test_ten_operations_a_second(self, lark: Lark) -> None:
        card_id, _ = self.begin(lark)
        codes = [lark.stream(card_id, "a" * n, n).code for n in range(1, 13)]
        assert 99991400 in codes

    def test_limits(self, lark: Lark) -> None:
        big = {**CARD, "body": {"elements": [{"tag": "markdown", "content": "x" * 31_000}]}}
        assert lark.create_card(big).code == 200860
        rows = [{"tag": "hr"}] * 201
        assert lark.create_card({**CARD, "body": {"elements": rows}}).code == 300305

    def test_batch_is_all_or_nothing(self, lark: Lark) -> None:
        card_id, message_id = self.begin(lark)
        add = {
            "action": "add_elements",
            "params": {
                "type": "insert_after",
                "target_element_id": "answer",
                "elements": [{"tag": "markdown", "element_id": "more", "content": "m"}],
            },
        }
        drop = {"action": "delete_elements", "params": {"element_ids": ["nobody"]}}
        path, token = f"/cardkit/v1/cards/{card_id}/batch_update", lark.app_token()
        refused = {"sequence": 1, "actions": json.dumps([add, drop])}
        assert lark.raw("POST", path, refused, token)["code"] == 300313
        fine = {"sequence": 1, "actions": json.dumps([add])}
        assert lark.raw("POST", path, fine, token)["code"] == 0
        shown = lark.simulator.message("feishu", "alice", DIRECT, message_id)
        assert [one["element_id"] for one in shown["card"]["body"]["elements"]] == [
            "answer",
            "more",
        ]


class TestReading:
    def test_message_search_as_a_person(self, lark: Lark) -> None:
        path, body = "/im/v1/messages/search", {"query": "retention bonus competitor offer"}
        found = lark.raw("POST", path, body, "u-demo-dana")["data"]["items"]
        assert found[0]["meta_data"]["chat_id"] == "oc_demo_hr_confidential"
        assert lark.raw("POST", path, body, "u-demo-alice")["data"]["items"] == []
        assert lark.raw("POST", path, body, lark.app_token())["code"] == 99991668

    def test_history_in_pages(self, lark: Lark) -> None:
        request = lark.im.ListMessageRequest.builder().container_id_type("chat")
        request = request.container_id(GROUP).page_size(2).sort_type("ByCreateTimeAsc")
        page = lark.client.im.v1.message.list(request.build()).data
        assert (len(page.items), page.has_more) == (2, True)
        assert (
            lark.raw(
                "GET",
                "/im/v1/messages?container_id_type=chat&container_id=oc_demo_hr_confidential",
                None,
                "u-demo-alice",
            )["code"]
            == 230002
        )

    def test_people_and_chats(self, lark: Lark) -> None:
        token = lark.app_token()
        user = lark.raw("GET", "/contact/v3/users/ou_demo_chen", None, token)["data"]["user"]
        path = f"/contact/v3/departments/{user['department_ids'][0]}"
        department = lark.raw("GET", path, None, token)["data"]["department"]
        assert (user["name"], department["name"]) == ("陈浩", "Engineering")
        members = lark.raw("GET", f"/im/v1/chats/{GROUP}/members", None, token)["data"]
        assert members["member_total"] == 6

    def test_documents_as_a_person(self, lark: Lark) -> None:
        body: Json = {"query": "", "doc_filter": {}, "wiki_filter": {}, "page_size": 20}
        for login in ("alice", "dana"):
            token = f"u-demo-{login}"
            found = lark.raw("POST", "/search/v2/doc_wiki/search", body, token)["data"]
            for unit in found["res_units"]:
                meta = unit["result_meta"]
                document = meta["token"]
                if unit["entity_type"] == "WIKI":
                    uri = f"/wiki/v2/spaces/get_node?token={document}"
                    document = lark.raw("GET", uri, None, token)["data"]["node"]["obj_token"]
                uri = f"/docx/v1/documents/{document}/raw_content"
                lark.simulator.advance(0.25)
                assert lark.raw("GET", uri, None, token)["data"]["content"]
        too_long = {**body, "query": "x" * 31}
        answer = lark.raw("POST", "/search/v2/doc_wiki/search", too_long, "u-demo-alice")
        assert answer["code"] == 99992402

    def test_searches_and_texts_have_their_limits(self, lark: Lark) -> None:
        token = "u-demo-fang"
        body: Json = {"query": "衡星跑团", "doc_filter": {}, "wiki_filter": {}}
        search = "/im/v1/messages/search"
        codes = [lark.raw("POST", search, body, token)["code"] for _ in range(101)]
        assert (set(codes[:100]), codes[100]) == ({0}, 99991400)
        lark.simulator.advance(61)
        assert lark.raw("POST", search, body, token)["code"] == 0
        many = {**body, "page_size": 31}
        assert lark.raw("POST", search, many, token)["code"] == 99992402
        text = "/docx/v1/documents/docVatRefund/raw_content"
        codes = [lark.raw("GET", text, None, token)["code"] for _ in range(6)]
        assert (set(codes[:5]), codes[5]) == ({0}, 99991400)

    def test_a_person_reads_only_with_the_scopes_of_a_person(self, lark: Lark) -> None:
        def signed_in(scope: str) -> str:
            query = {"client_id": "cli_demo0000000001", "redirect_uri": "http://x/", "as": "fang"}
            page = lark.simulator.client.get(
                "/open-apis/authen/v1/authorize", params={**query, "scope": scope}
            )
            code = page.headers["location"].split("code=")[1].split("&")[0]
            body = {"grant_type": "authorization_code", "code": code}
            secret = {"client_id": "cli_demo0000000001", "client_secret": "demo-app-secret"}
            return lark.raw("POST", "/authen/v2/oauth/token", body | secret, "-")["access_token"]

        uri = "/im/v1/messages?container_id_type=chat&container_id=oc_demo_procurement"
        members = "/im/v1/chats/oc_demo_procurement/members"
        allowed = signed_in("im:message.group_msg:get_as_user im:chat.members:read")
        bare = signed_in("search:message")
        for path in (uri, members):
            assert lark.raw("GET", path, None, allowed)["code"] == 0
            refused = lark.raw("GET", path, None, bare)
            assert refused["code"] == 99991679
            assert refused["error"]["permission_violations"][0]["subject"].startswith("im:")

    def test_a_message_comes_with_its_address_for_a_person(self, lark: Lark) -> None:
        uri = "/im/v1/messages?container_id_type=chat&container_id=oc_demo_procurement"
        (first, *_) = lark.raw("GET", uri, None, "u-demo-fang")["data"]["items"]
        link = first["message_app_link"]
        assert link.startswith(lark.simulator.origin)
        assert "chat=oc_demo_procurement" in link
        assert "as=fang" in link
        as_app = lark.raw("GET", uri, None, lark.app_token())["data"]["items"]
        assert "message_app_link" not in as_app[0]

    def test_a_document_of_others_stays_closed(self, lark: Lark) -> None:
        body: Json = {"query": "", "doc_filter": {}, "page_size": 20}

        def seen(login: str) -> set[str]:
            answer = lark.raw("POST", "/search/v2/doc_wiki/search", body, f"u-demo-{login}")
            return {unit["result_meta"]["token"] for unit in answer["data"]["res_units"]}

        closed = min(seen("dana") - seen("alice"))
        uri = f"/docx/v1/documents/{closed}/raw_content"
        assert lark.raw("GET", uri, None, "u-demo-alice")["code"] == 1770032
        uri = f"/drive/v1/permissions/{closed}/members/auth?type=docx&action=view"
        answers = [lark.raw("GET", uri, None, f"u-demo-{who}")["data"] for who in ("alice", "dana")]
        assert [answer["auth_result"] for answer in answers] == [False, True]

    def test_minutes_as_a_person(self, lark: Lark) -> None:
        search, own = "/minutes/v1/minutes/search", {"participant_ids": ["ou_demo_chen"]}
        found = lark.raw("POST", search, {"filter": own}, "u-demo-chen")["data"]["items"]
        assert found
        token = found[0]["token"]
        uri = f"/minutes/v1/minutes/{token}"
        notes = lark.raw("GET", f"{uri}/artifacts", None, "u-demo-chen")["data"]
        assert notes["summary"]
        assert int(notes["minute_chapters"][0]["stop_ms"]) > 0
        text = lark.simulator.client.get(
            f"/open-apis{uri}/transcript?need_speaker=true&need_timestamp=true&file_format=txt",
            headers={"Authorization": "Bearer u-demo-chen"},
        )
        assert "attachment" in text.headers["content-disposition"]
        assert ":" in text.text.split("\n")[0]
        outsiders = [
            login
            for login in ("alice", "bob", "dana", "emil", "fang")
            if lark.raw("GET", uri, None, f"u-demo-{login}")["code"] == 2091005
        ]
        nowhere = {
            login: lark.raw("POST", search, {"filter": own}, f"u-demo-{login}")["data"]["items"]
            for login in outsiders
        }
        assert all(token not in [item["token"] for item in items] for items in nowhere.values())
        year = {"create_time": {"start_time": "2026-01-01T00:00:00+08:00"}}
        assert lark.raw("POST", search, {"filter": year}, "u-demo-chen")["code"] == 99992402

    def test_uploads_are_the_apps_own(self, lark: Lark) -> None:
        headers = {"Authorization": f"Bearer {lark.app_token()}"}
        answer = lark.simulator.client.post(
            "/open-apis/im/v1/images",
            data={"image_type": "message"},
            files={"image": ("a.png", b"\x89PNG\r\n--x", "image/png")},
            headers=headers,
        )
        key = answer.json()["data"]["image_key"]
        got = lark.simulator.client.get(f"/open-apis/im/v1/images/{key}", headers=headers)
        assert got.content == b"\x89PNG\r\n--x"
        assert lark.send(DIRECT, "x").success()


def test_calls_are_recorded(lark: Lark) -> None:
    lark.send(GROUP, "hello")
    call = lark.simulator.get("calls")[-1]
    assert (call["method"], call["path"]) == ("POST", "/open-apis/im/v1/messages")
    assert (call["status"], call["code"], call["person"]) == (200, 0, "bot")
    assert call["body"]["receive_id"] == GROUP
    assert lark.simulator.get("calls", since=call["n"]) == []


def test_live_news_reaches_only_those_who_may_see(lark: Lark) -> None:
    query = {"platform": "feishu", "as": "alice"}
    with lark.simulator.client.stream("GET", "/sim/stream", params=query) as news:
        lines = news.iter_lines()
        assert next(lines) == "event: presence"
        lark.simulator.say("feishu", "dana", "oc_demo_hr_confidential", "secret")
        message_id = lark.simulator.say("feishu", "bob", GROUP, "hello all")
        data = [line for line in (next(lines) for _ in range(4)) if line.startswith("data: ")]
        assert json.loads(data[-1].removeprefix("data: "))["id"] == message_id
