"""Buttons and commands: callbacks the bot answers within 3 seconds."""

import json
import secrets
from typing import Any, cast

from simulator.company import Person
from simulator.control.sim import ControlError, Sim
from simulator.control.speech import chat_of, message_of
from simulator.delivery import Receipt
from simulator.feishu import events as feishu_events
from simulator.feishu.cardshelf import check_card
from simulator.feishu.errors import FeishuError
from simulator.feishu.side import CallbackToken
from simulator.slack import events as slack_events
from simulator.slack.responses import new_response_url
from simulator.slack.show import message_item
from simulator.slack.side import TEAM, TEAM_DOMAIN
from simulator.state.workspace import Chat, Message

Json = dict[str, Any]


def _answer(receipt: Receipt) -> object:
    if not receipt.good:
        return {"error": receipt.reason, "status": receipt.status}
    text = receipt.body.decode("utf-8", "replace")
    try:
        return cast("object", json.loads(text.strip() or "{}"))
    except ValueError:
        return {"text": text}


def _fields(answer: object) -> Json:
    return cast("Json", answer) if isinstance(answer, dict) else {}


async def press(sim: Sim, body: Json) -> Json:
    """Press a button as a person and return what the bot answered."""
    platform, login = str(body.get("platform")), str(body.get("as"))
    person, chat = chat_of(sim, platform, login, str(body.get("chat")))
    message = message_of(sim, platform, str(body.get("message")))
    action = body.get("action")
    if not isinstance(action, dict):
        raise ControlError("press needs action, an object")
    act = cast("Json", action)
    if platform == "feishu":
        return {"answer": await _press_feishu(sim, person, message, act)}
    return {"answer": await _press_slack(sim, person, chat, message, act)}


def _callback_value(action: Json) -> object:
    for behaviour in cast("list[Json]", action.get("behaviors") or []):
        if behaviour.get("type") == "callback":
            return behaviour.get("value")
    return action.get("value", {})


async def _press_feishu(sim: Sim, person: Person, message: Message, action: Json) -> object:
    side = sim.feishu
    token = f"c-{secrets.token_hex(20)}"
    side.callbacks[token] = CallbackToken(message.id, sim.world.clock.now())
    kept = ("name", "form_value", "input_value", "option", "options", "checked", "timezone")
    act = {
        "value": _callback_value(action),
        "tag": action.get("tag", "button"),
        **{name: action[name] for name in kept if name in action},
    }
    event = feishu_events.action_event(side, message, person, token, act)
    parcel = feishu_events.parcel(side, "card.action.trigger", event, again=False)
    answer = _answer(await sim.courier.ask(parcel))
    fields = _fields(answer)
    if isinstance(fields.get("card"), dict) and not message.streaming:
        _take_card(sim, message, fields["card"])
    return answer


def _take_card(sim: Sim, message: Message, given: Json) -> None:
    card = given.get("data") if given.get("type") == "raw" else None
    if not isinstance(card, dict):
        return
    try:
        check_card(cast("Json", card))
    except FeishuError as refusal:
        raise ControlError(f"the bot's card is refused: {refusal.code} {refusal.msg}") from refusal
    message.card = cast("Json", card)
    message.edits += 1
    entity = sim.feishu.shelf.cards.get(message.card_id or "")
    if entity is not None:
        entity.json = message.card
    sim.feishu.space.touch(message)


async def _press_slack(
    sim: Sim, person: Person, chat: Chat, message: Message, action: Json
) -> object:
    side = sim.slack
    ephemeral = message.visible_to is not None
    container: Json = {
        "type": "message",
        "message_ts": message.id,
        "channel_id": chat.id,
        "is_ephemeral": ephemeral,
    }
    if message.thread:
        container["thread_ts"] = message.thread
    payload: Json = {
        "type": "block_actions",
        "user": _user(person),
        "api_app_id": slack_events.APP,
        "token": slack_events.OLD_TOKEN,
        "container": container,
        "trigger_id": f"1.2.{secrets.token_hex(8)}",
        "team": {"id": TEAM, "domain": TEAM_DOMAIN},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": chat.id, "name": "directmessage" if chat.kind == "direct" else chat.name},
        "state": {"values": action.get("state_values") or {}},
        "response_url": new_response_url(side, person.login, chat.id, message.id),
        "actions": [_slack_action(sim, message, action)],
    }
    if not ephemeral:
        payload["message"] = message_item(side, message)
    parcel = slack_events.form_parcel(
        side,
        slack_events.INTERACTIVITY,
        "block_actions",
        {"payload": json.dumps(payload, ensure_ascii=False)},
    )
    return _answer(await sim.courier.ask(parcel))


def _user(person: Person) -> Json:
    return {
        "id": person.slack_id,
        "username": person.login,
        "name": person.login,
        "team_id": TEAM,
    }


def _slack_action(sim: Sim, message: Message, action: Json) -> Json:
    kept = ("value", "text", "style", "selected_option", "selected_options", "selected_user")
    found = {name: action[name] for name in kept if name in action}
    return {
        "action_id": str(action.get("action_id", "")),
        "block_id": str(action.get("block_id") or _block_id(message, action)),
        **found,
        "type": action.get("type", "button"),
        "action_ts": f"{sim.world.clock.now():.6f}",
    }


def _block_id(message: Message, action: Json) -> str:
    for block in message.blocks or []:
        for element in cast("list[Json]", block.get("elements") or []):
            if element.get("action_id") == action.get("action_id"):
                return str(block.get("block_id") or secrets.token_hex(2))
    return secrets.token_hex(2)


async def command(sim: Sim, body: Json) -> Json:
    """Use a slash command as a person; an answer in the body is shown to that person."""
    person, chat = chat_of(sim, "slack", str(body.get("as")), str(body.get("chat")))
    name = str(body.get("command") or "")
    if not name.startswith("/"):
        raise ControlError("command starts with a slash")
    fields = slack_events.command_fields(sim.slack, person, chat, name, str(body.get("text") or ""))
    fields["response_url"] = new_response_url(sim.slack, person.login, chat.id, None)
    parcel = slack_events.form_parcel(sim.slack, slack_events.COMMANDS, "slash_command", fields)
    answer = _answer(await sim.courier.ask(parcel))
    _show_answer(sim, person, chat, answer)
    return {"answer": answer}


def _show_answer(sim: Sim, person: Person, chat: Chat, answer: object) -> None:
    fields = _fields(answer)
    if fields.get("text"):
        shown_to = None if fields.get("response_type") == "in_channel" else person.login
        sim.slack.space.add(
            Message(
                id=sim.slack.new_ts(),
                chat=chat.id,
                author="bot",
                at=sim.world.clock.now(),
                kind="ephemeral" if shown_to else "text",
                text=str(fields["text"]),
                blocks=fields.get("blocks"),
                visible_to=shown_to,
            )
        )
