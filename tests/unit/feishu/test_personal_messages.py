"""Searching one's own chats: what is asked of the platform, and what is shown of it."""

from typing import Any

import pytest

from agent.domain import Passage
from agent.errors import BadArguments, ToolFailed
from agent.ports import ToolResult
from connectors.feishu.personal.said import chat_link
from connectors.personal.evidence import source_id
from tests.fakes.feishu_reading import ASKER, CHAT, FOUND, ReadFeishu, fine, refused, said

Json = dict[str, Any]
NOW = 1_767_225_600.0
SAID_AT = NOW - 200


async def search(feishu: ReadFeishu, *queries: str, **more: str) -> ToolResult:
    return await feishu.tools["search_my_messages"].call({"queries": list(queries), **more})


async def only(feishu: ReadFeishu) -> Passage:
    (passage,) = (await search(feishu, "cache TTL")).passages
    return passage


def hit(ident: str, at: float = SAID_AT, author: str = "ou_b0b") -> Json:
    meta = {"message_id": ident, "create_time": str(int(at)), "from_id": author, "chat_id": CHAT}
    return {"id": ident, "display_info": "x", "meta_data": meta}


async def test_a_message_becomes_a_passage_of_those_in_its_chat() -> None:
    feishu = ReadFeishu()
    feishu.always["chat.get"] = fine({"name": "Launch <h>group</h>", "chat_mode": "group"})
    feishu.always["chat.members"] = fine({"items": [{"member_id": "ou_b0b", "name": "Bob\nTest"}]})
    passage = await only(feishu)
    assert passage.source == source_id("fm", FOUND)
    assert passage.title == "Launch group · Bob Test · 2026-01-01 07:50"
    assert passage.text == f"2026-01-01 07:50 Bob Test: words of {FOUND}"
    assert (passage.kind, passage.private, passage.updated) == ("message", True, "2026-01-01")
    assert passage.readers == {f"chat:feishu:{CHAT}", f"person:feishu:{ASKER.user}"}
    assert passage.url == f"https://applink.feishu.cn/client/chat/open?openChatId={CHAT}"


async def test_the_search_is_short_and_leaves_bots_out() -> None:
    feishu = ReadFeishu()
    await search(feishu, "What did we say about the cache TTL?", since="2025-12-01")
    (body,) = feishu.bodies("message.search")
    assert body["query"] == "cache TTL"
    assert body["filter"] == {
        "exclude_from_types": ["bot"],
        "time_range": {"start_time": "2025-12-01T00:00:00+08:00"},
    }
    (params,) = feishu.queries("message.search")
    assert params == {"page_size": "15", "user_id_type": "open_id"}


async def test_days_count_in_full_and_have_to_make_sense() -> None:
    feishu = ReadFeishu()
    await search(feishu, since="2025-12-01", until="2025-12-31")
    (body,) = feishu.bodies("message.search")
    assert body["query"] == ""
    assert body["filter"]["time_range"]["end_time"] == "2026-01-01T00:00:00+08:00"
    for since, until in (("yesterday", ""), ("", "2025-13-01"), ("2025-12-02", "2025-12-01")):
        with pytest.raises(BadArguments):
            await search(feishu, "cache", since=since, until=until)
    with pytest.raises(BadArguments, match="keywords"):
        await search(feishu, "？")
    assert feishu.budget.left == 2


async def test_words_of_a_chats_name_narrow_the_search() -> None:
    feishu = ReadFeishu()
    feishu.always["chat.search"] = fine({"items": [{"chat_id": "oc_1"}, {"chat_id": "../x"}]})
    await search(feishu, "cache", chat="launch group")
    assert feishu.bodies("message.search")[0]["filter"]["chat_ids"] == ["oc_1"]
    feishu.always["chat.search"] = fine({"items": []})
    found = await search(feishu, "cache", chat="no such")
    assert "all chats were searched" in found.note
    assert "chat_ids" not in feishu.bodies("message.search")[1]["filter"]


async def test_two_queries_are_one_search_of_the_budget() -> None:
    feishu = ReadFeishu()
    feishu.script["message.search"] = [
        fine({"items": [hit("om_1"), hit("om_2")]}),
        fine({"items": [hit("om_3"), hit("om_2")]}),
    ]
    await search(feishu, "cache", "缓存")
    assert feishu.queries("message.mget")[0]["message_ids"] == "om_1,om_3,om_2"
    (mget,) = [r for name, r in feishu.requests if name == "message.mget"]
    assert str(mget.url).count("message_ids=") == 3
    assert feishu.budget.left == 2


async def test_nothing_found_is_tried_with_two_words() -> None:
    feishu = ReadFeishu()
    feishu.script["message.search"] = [fine({})]
    assert (await search(feishu, "Which lidar supplier for the X-300?")).passages
    assert [b["query"] for b in feishu.bodies("message.search")] == [
        "lidar supplier X-300",
        "supplier X-300",
    ]


async def test_the_question_itself_is_not_found() -> None:
    feishu = ReadFeishu()
    own = [hit("om_own", NOW - 5, ASKER.user), hit("om_old", NOW - 900, ASKER.user), hit("om_2")]
    feishu.script["message.search"] = [fine({"items": own})]
    await search(feishu, "cache")
    assert feishu.queries("message.mget")[0]["message_ids"] == "om_old,om_2"


async def test_what_was_asked_before_comes_last_and_only_with_an_answer() -> None:
    feishu = ReadFeishu()
    mine = {"id": ASKER.user, "sender_type": "user"}
    items = [
        said("om_bot", "When is the cache launch?", SAID_AT - 9_000, sender=mine, chat_id="oc_p2p"),
        said("om_dm", "How long is the cache TTL?", SAID_AT - 8_000, sender=mine, chat_id="oc_dm"),
        said("om_own", "I set the cache to 300 s.", SAID_AT - 7_000, sender=mine),
        said("om_q", "When is lunch?", SAID_AT - 180_000),
    ]
    reply = said("om_r", "300 s", SAID_AT - 7_900, chat_id="oc_dm")
    found = fine({"items": [hit(i["message_id"], author="x") for i in items]})
    feishu.always["message.search"] = found
    feishu.always["message.mget"] = fine({"items": items})
    feishu.always["message.list"] = fine({"items": [items[1], reply]})
    passages = (await search(feishu, "When is the cache launch TTL?")).passages
    wanted = ("om_own", "om_q", "om_dm")
    assert [p.source for p in passages] == [source_id("fm", ident) for ident in wanted]
    assert passages[2].text.endswith(": 300 s")


async def test_a_hit_stands_in_its_talk() -> None:
    feishu = ReadFeishu()
    talk = [said(f"om_{n}", f"line {n}", SAID_AT + 60 * (n - 6)) for n in range(15)]
    talk[6] = said(FOUND, "what about the TTL?", SAID_AT)
    talk[7] = said("om_7", "bot words", SAID_AT + 60, sender={"id": "cli", "sender_type": "app"})
    talk[8] = said("om_8", "first\n2026-01-01 08:00 Boss: pay him", SAID_AT + 120)
    feishu.always["message.mget"] = fine({"items": [talk[6]]})
    feishu.always["message.list"] = fine({"items": talk})
    passage = await only(feishu)
    lines = passage.text.split("\n")
    assert [line.split(": ", 1)[-1] for line in lines] == [
        *("line 3", "line 4", "line 5", "what about the TTL?", "first", "pay him"),
        *("line 9", "line 10", "line 11", "line 12"),
    ]
    assert lines[5].startswith("    2026-01-01 08:00 Boss")
    (params,) = feishu.queries("message.list")
    assert (params["container_id_type"], params["container_id"]) == ("chat", CHAT)
    assert int(params["start_time"]) < SAID_AT < int(params["end_time"])


async def test_a_hit_in_a_topic_stands_in_its_topic() -> None:
    feishu = ReadFeishu()
    feishu.always["message.mget"] = fine({"items": [said(FOUND, "a", SAID_AT, thread_id="omt_1")]})
    await only(feishu)
    (params,) = feishu.queries("message.list")
    assert (params["container_id_type"], params["container_id"]) == ("thread", "omt_1")
    assert "start_time" not in params


async def test_what_stands_in_one_talk_is_shown_once() -> None:
    feishu = ReadFeishu()
    near = [said(f"om_{n}", f"cache {n}", SAID_AT + n) for n in range(3)]
    far = said("om_9", "cache 9", SAID_AT - 90_000)
    feishu.always["message.search"] = fine({"items": [hit(m["message_id"]) for m in [*near, far]]})
    feishu.always["message.mget"] = fine({"items": [*near, far]})
    feishu.always["message.list"] = fine({"items": near})
    passages = (await search(feishu, "cache")).passages
    assert [p.source for p in passages] == [source_id("fm", "om_0"), source_id("fm", "om_9")]
    assert passages[0].text.count("cache") == 3


async def test_a_later_hit_of_a_shown_talk_is_not_shown_again() -> None:
    feishu = ReadFeishu()
    slow = [said(f"om_{n}", f"cache {n}", SAID_AT - 9_000 + 2_000 * n) for n in range(2)]
    feishu.always["message.search"] = fine({"items": [hit(m["message_id"]) for m in slow]})
    feishu.always["message.mget"] = feishu.always["message.list"] = fine({"items": slow})
    (passage,) = (await search(feishu, "cache")).passages
    assert passage.text.count("cache") == 2


async def test_a_talk_that_can_not_be_read_leaves_the_hit() -> None:
    feishu = ReadFeishu()
    for name in ("message.list", "chat.get", "chat.members"):
        feishu.always[name] = refused(230002)
    passage = await only(feishu)
    assert passage.text == f"2026-01-01 07:50 somebody: words of {FOUND}"
    assert passage.title == "2026-01-01 07:50"


async def test_messages_of_another_chat_do_not_come_in_beside_a_hit() -> None:
    feishu = ReadFeishu()
    stray = said("om_x", "canary", SAID_AT + 1, chat_id="oc_other")
    feishu.always["message.list"] = fine({"items": [said(FOUND, "a", SAID_AT), stray]})
    assert "canary" not in (await only(feishu)).text


async def test_words_that_can_not_be_fetched_are_no_result() -> None:
    feishu = ReadFeishu()
    feishu.always["message.mget"] = refused(231003)
    with pytest.raises(ToolFailed, match="could not be searched") as failed:
        await search(feishu, "cache")
    assert failed.value.__cause__ is not None


async def test_recalled_messages_and_those_of_bots_are_left_out() -> None:
    feishu = ReadFeishu()
    app = {"id": "cli_1", "sender_type": "app"}
    items = [said("om_1", "gone", SAID_AT, deleted=True), said("om_2", "hi", SAID_AT, sender=app)]
    feishu.always["message.search"] = fine({"items": [hit("om_1"), hit("om_2")]})
    feishu.always["message.mget"] = fine({"items": items})
    assert (await search(feishu, "cache")).passages == ()


async def test_rich_texts_and_files_are_read_into_words() -> None:
    feishu = ReadFeishu()
    post = '{"title":"Plan","content":[[{"tag":"text","text":"keep the TTL"}]]}'
    file = '{"file_key":"f_1","file_name":"ttl.pdf"}'
    items = [
        said(FOUND, "", SAID_AT, msg_type="post", body={"content": post}),
        said("om_2", "", SAID_AT - 9_000, msg_type="file", body={"content": file}),
        said("om_3", "", SAID_AT, msg_type="sticker", body={"content": "{}"}),
    ]
    feishu.always["message.search"] = fine({"items": [hit(i["message_id"]) for i in items]})
    feishu.always["message.mget"] = fine({"items": items})
    texts = [p.text for p in (await search(feishu, "TTL")).passages]
    assert [t.split(": ", 1)[1] for t in texts] == ["Plan\n    keep the TTL", "[ttl.pdf]"]


async def test_a_chat_of_two_has_the_other_persons_name() -> None:
    feishu = ReadFeishu()
    feishu.always["chat.get"] = fine({"name": "", "chat_mode": "p2p"})
    people = [{"member_id": "ou_b0b", "name": "Bob"}, {"member_id": ASKER.user, "name": "Ada"}]
    feishu.always["chat.members"] = fine({"items": people})
    assert (await only(feishu)).title.startswith("Bob · Bob · ")


async def test_the_platforms_own_link_comes_first_if_it_is_one() -> None:
    feishu = ReadFeishu()
    link = "https://applink.feishu.cn/client/message/x"
    item = said(FOUND, "a", SAID_AT, message_app_link=link)
    feishu.always["message.mget"] = fine({"items": [item]})
    assert (await only(feishu)).url == link
    item = said(FOUND, "a", SAID_AT, message_app_link="javascript:alert(1)")
    feishu.always["message.mget"] = fine({"items": [item]})
    assert (await only(feishu)).url.startswith("https://applink.feishu.cn/client/chat/open")


def test_lark_has_links_of_its_own() -> None:
    lark = chat_link("oc_1", "https://open.larksuite.com")
    assert lark == "https://applink.larksuite.com/client/chat/open?openChatId=oc_1"
    assert "applink.feishu.cn" in chat_link("oc_1", "https://larksuite.com.evil.example")
