"""Second thoughts: edits, recalls, forwards, reactions; and streams whose time is over."""

from typing import Any, cast

from simulator.control.sim import ControlError, Sim
from simulator.control.speech import chat_of, message_of
from simulator.feishu import events as feishu_events
from simulator.feishu.content import text_content
from simulator.feishu.show import millis
from simulator.slack import events as slack_events
from simulator.slack.show import message_item
from simulator.state.workspace import Message

Json = dict[str, Any]


def _mine(sim: Sim, body: Json) -> tuple[str, str, Message]:
    platform, login = str(body.get("platform")), str(body.get("as"))
    message = message_of(sim, platform, str(body.get("message")))
    chat_of(sim, platform, login, message.chat)
    if message.author != login:
        raise ControlError("only the author may do this")
    return platform, login, message


def _send_slack(sim: Sim, event: Json) -> None:
    sim.courier.send(slack_events.event_parcel(sim.slack, event))


def edit(sim: Sim, body: Json) -> Json:
    """Change an own message; Slack tells the bot (message_changed), Feishu does not."""
    platform, login, message = _mine(sim, body)
    text = str(body.get("text") or "")
    if not text:
        raise ControlError("edit needs text")
    before = message_item(sim.slack, message) if platform == "slack" else {}
    message.text, message.edits = text, message.edits + 1
    message.updated = sim.world.clock.now()
    if platform == "feishu":
        coded, message.mentions = feishu_events.encode_mentions(sim.feishu, text)
        message.content = text_content(coded)
        sim.feishu.space.touch(message)
        return {}
    coded = slack_events.encode_text(sim.slack, text)
    message.extra["raw_text"], message.blocks = coded, slack_events.rich_text(coded)
    sim.slack.space.touch(message)
    chat = sim.slack.space.chats[message.chat]
    if chat.with_bot:
        stamp = sim.slack.new_ts()
        changed = message_item(sim.slack, message)
        changed["edited"] = {"user": sim.slack.user_id(login), "ts": stamp}
        _send_slack(
            sim,
            {
                "type": "message",
                "subtype": "message_changed",
                "message": changed,
                "previous_message": before,
                "channel": chat.id,
                "hidden": True,
                "ts": stamp,
                "event_ts": stamp,
                "channel_type": sim.slack.channel_type(chat),
            },
        )
    return {}


def recall(sim: Sim, body: Json) -> Json:
    """Take an own message back; both platforms tell the bot."""
    platform, _, message = _mine(sim, body)
    before = message_item(sim.slack, message) if platform == "slack" else {}
    message.deleted, message.updated = True, sim.world.clock.now()
    sim.space(platform).touch(message)
    chat = sim.space(platform).chats[message.chat]
    if not chat.with_bot:
        return {}
    if platform == "feishu":
        event = {
            "message_id": message.id,
            "chat_id": chat.id,
            "recall_time": millis(message.updated),
            "recall_type": "message_owner",
        }
        sim.courier.send(feishu_events.parcel(sim.feishu, "im.message.recalled_v1", event))
        return {}
    stamp = sim.slack.new_ts()
    _send_slack(
        sim,
        {
            "type": "message",
            "subtype": "message_deleted",
            "previous_message": before,
            "channel": chat.id,
            "hidden": True,
            "deleted_ts": message.id,
            "event_ts": stamp,
            "ts": stamp,
            "channel_type": sim.slack.channel_type(chat),
        },
    )
    return {}


def forward(sim: Sim, body: Json) -> Json:
    """Forward messages of other chats as one merged message (Feishu only)."""
    login = str(body.get("as"))
    person, chat = chat_of(sim, "feishu", login, str(body.get("chat")))
    sources = [
        message_of(sim, "feishu", str(one))
        for one in cast("list[object]", body.get("messages") or [])
    ]
    if not sources:
        raise ControlError("forward needs messages, a list of ids")
    for source in sources:
        chat_of(sim, "feishu", login, source.chat)
    merged = Message(
        id=sim.feishu.new_id("om_"),
        chat=chat.id,
        author=login,
        at=sim.world.clock.now(),
        text="\n".join(f"{sim.world.company.shown(s.author)}: {s.text}" for s in sources),
        msg_type="merge_forward",
        content="Merged and Forwarded Message",
    )
    merged.children = [_copy(sim, source, merged.id) for source in sources]
    sim.feishu.space.add(merged)
    if chat.with_bot and chat.kind == "direct":
        event = feishu_events.message_event(sim.feishu, merged, person)
        sim.courier.send(feishu_events.parcel(sim.feishu, "im.message.receive_v1", event))
    return {"message": merged.id}


def _copy(sim: Sim, source: Message, upper: str) -> Message:
    return Message(
        id=sim.feishu.new_id("om_"),
        chat=source.chat,
        author=source.author,
        at=source.at,
        text=source.text,
        msg_type=source.msg_type,
        content=source.content,
        mentions=source.mentions,
        files=source.files,
        upper=upper,
    )


def react(sim: Sim, body: Json) -> Json:
    """Put an emoji on a message, or take it off when it is there."""
    platform, login = str(body.get("platform")), str(body.get("as"))
    message = message_of(sim, platform, str(body.get("message")))
    person, chat = chat_of(sim, platform, login, message.chat)
    name = str(body.get("name") or "")
    who = message.reactions.setdefault(name, [])
    added = login not in who
    who.append(login) if added else who.remove(login)
    if not who:
        del message.reactions[name]
    sim.space(platform).touch(message)
    if not chat.with_bot:
        return {"added": added}
    if platform == "feishu":
        kind = "created" if added else "deleted"
        event: Json = {
            "message_id": message.id,
            "reaction_type": {"emoji_type": name},
            "operator_type": "user",
            "user_id": feishu_events.person_ids(person),
            "action_time": millis(sim.world.clock.now()),
        }
        sim.courier.send(feishu_events.parcel(sim.feishu, f"im.message.reaction.{kind}_v1", event))
    else:
        _send_slack(
            sim,
            {
                "type": "reaction_added" if added else "reaction_removed",
                "user": person.slack_id,
                "reaction": name,
                "item": {"type": "message", "channel": chat.id, "ts": message.id},
                "item_user": sim.slack.user_id(message.author),
                "event_ts": sim.slack.new_ts(),
            },
        )
    return {"added": added}


def enter(sim: Sim, body: Json) -> Json:
    """Open the direct chat with the bot: p2p_chat_entered, or app_home_opened."""
    platform, login = str(body.get("platform")), str(body.get("as"))
    chat = sim.space(platform).direct_chat(login)
    person, _ = chat_of(sim, platform, login, chat.id)
    if platform == "feishu":
        flow = sim.feishu.space.flow(chat.id, reader=login)
        event: Json = {"chat_id": chat.id, "operator_id": feishu_events.person_ids(person)}
        if flow:
            event |= {
                "last_message_id": flow[-1].id,
                "last_message_create_time": millis(flow[-1].at),
            }
        name = "im.chat.access_event.bot_p2p_chat_entered_v1"
        sim.courier.send(feishu_events.parcel(sim.feishu, name, event))
    else:
        _send_slack(
            sim,
            {
                "type": "app_home_opened",
                "user": person.slack_id,
                "channel": chat.id,
                "tab": "messages",
                "event_ts": sim.slack.new_ts(),
            },
        )
    return {}


def close_overdue(sim: Sim) -> None:
    """Show cards and streams as ended whose time is over, as the clients do."""
    now = sim.world.clock.now()
    for ts in [ts for ts, end in sim.slack.streams.items() if end <= now]:
        message = sim.slack.space.find(ts)
        del sim.slack.streams[ts]
        if message is not None and message.streaming:
            message.streaming = False
            sim.slack.space.touch(message)
    for card in sim.feishu.shelf.cards.values():
        message = sim.feishu.space.find(card.message_id)
        if message is not None and message.streaming and not card.streaming(now):
            message.streaming = False
            sim.feishu.space.touch(message)
