"""Takes in a pressed control: what is cheap is done at once, the rest goes through the inbox."""

from __future__ import annotations

import json
from dataclasses import dataclass

from agent.domain import ChatRef, Identity, Platform, Question
from agent.durable import keys
from agent.durable.intake import take
from connectors.incoming import Action
from handlers.surface import presses
from handlers.surface.places import pressed_in
from handlers.wiring import Receiving


@dataclass(frozen=True, slots=True)
class Handled:
    """What became of a request in one word, and the body that answers it ("" for the usual one)."""

    outcome: str
    body: str = ""


async def press(action: Action, here: Platform, store: Receiving) -> Handled:
    """Judge a press and answer it: a toast on Feishu; Slack has none, so the worker whispers.

    Raises:
        Unavailable: table or queue gave no answer.
    """
    pressed = presses.read(action.value, action.at) if action.kind == "button" else None
    if pressed is None or not action.user:
        return Handled("unknown_control")
    person = Identity(
        store.org, here, store.app(here), action.tenant, action.user, external=action.external
    )
    ruling = await presses.decide(store, pressed, person)
    work, turn = ruling.work, ruling.turn
    toast = here == "feishu"
    if work is None and not toast:
        turn = turn or keys.action_turn_id(pressed.subject, action.user, action.at)
        chat = ruling.chat or ChatRef(action.chat, "group", "")
        at = presses.moment(action.at, store.clock.now())
        work = Question(person, chat, ruling.note, "en", at, act="tell", about=pressed.turn)
    if work is not None:
        work = pressed_in(work, action.chat, action.thread)
        await take(work, action.event or turn, store, turn)
    return Handled(f"{pressed.action}:{ruling.outcome}", _toast(ruling.note) if toast else "")


def _toast(text: str) -> str:
    return json.dumps({"toast": {"type": "info", "content": text}}, ensure_ascii=False)
