"""Takes in slash commands, menu entries and first meetings; the worker does what they ask for."""

from __future__ import annotations

import json

from agent.domain import ChatRef, Identity, Language, Platform, Question
from agent.durable import keys, preferences
from agent.durable.intake import take
from agent.language import detect
from connectors import holdings
from connectors.incoming import Command, Lifecycle
from connectors.slack import installations
from handlers.pressing import Handled
from handlers.surface import replies
from handlers.wiring import Receiving

_DEFAULT: dict[Platform, Language] = {"feishu": "zh", "slack": "en"}
"""The language of a person of whom nothing is known, by platform."""


async def order(command: Command, store: Receiving) -> Handled:
    """Take a slash command in; the person sees at once that it was heard.

    Raises:
        Unavailable: table or queue gave no answer.
    """
    if not command.user or not command.chat:
        return Handled("malformed")
    app = command.app or store.slack_app
    person = Identity(store.org, "slack", app, command.tenant, command.user)
    chosen = await preferences.load(store.table, person.principal)
    language = chosen.language_or(detect(command.text, "en"))
    direct = command.chat.startswith("D")
    chat = ChatRef(command.chat, "direct" if direct else "group", "")
    now = store.clock.now()
    asked = Question(
        person, chat, command.text, language, now, act="command", about="slash" if direct else ""
    )
    use = command.trigger or command.reply or str(now)
    turn = keys.action_turn_id(f"/plumb {command.text}", command.user, use)
    taken = await take(asked, turn, store, turn)
    text = replies.note(language, "working")
    body = json.dumps({"response_type": "ephemeral", "text": text}, ensure_ascii=False)
    return Handled(taken, body)


async def notice(happened: Lifecycle, platform: Platform, store: Receiving) -> Handled:
    """Take in what the worker has to answer: a menu entry, or that somebody meets us first.

    Raises:
        Unavailable: table or queue gave no answer.
    """
    app = happened.app or store.app(platform)
    if happened.kind in ("tokens_revoked", "uninstalled"):
        await _forget(happened, platform, app, store)
        return Handled(happened.kind)
    person = Identity(
        store.org,
        platform,
        app,
        happened.tenant,
        happened.user,
        external=happened.external,
    )
    now = store.clock.now()
    if happened.kind == "menu" and happened.user:
        # The event names no chat: what is told goes to the person (FEISHU.md 2.5).
        chat, act, text = ChatRef(happened.user, "direct", ""), "command", happened.detail
        turn = keys.action_turn_id(f"menu {text}", happened.user, happened.event)
    elif _is_first_contact(happened):
        group = happened.kind == "bot_added"
        met = happened.chat if group else happened.user
        chat = ChatRef(happened.chat, "group" if group else "direct", "")
        act, text = "welcome", ""
        # One turn for each person or group, whatever is delivered: put-if-absent does the rest.
        turn, now = keys.action_turn_id("welcome", met, ""), 0.0
    else:
        return Handled(happened.kind)
    chosen = await preferences.load(store.table, person.principal)
    language = chosen.language_or(_DEFAULT[platform])
    hints = {"outsiders": "1"} if happened.outsiders else {}
    asked = Question(person, chat, text, language, now, platform_hints=hints, act=act)
    return Handled(await take(asked, happened.event or turn, store, turn))


async def _forget(happened: Lifecycle, platform: Platform, app: str, store: Receiving) -> None:
    """Delete the tokens that the platform has ended; a repeat finds nothing left."""
    if not app or not happened.tenant:
        return  # malformed: nobody's tokens are meant
    if happened.kind == "uninstalled":
        await holdings.forget_workspace(store.table, store.org, platform, app, happened.tenant)
        if platform == "slack":
            await installations.forget(store.table, app, happened.tenant)
    for user in happened.people:
        person = Identity(store.org, platform, app, happened.tenant, user)
        await holdings.forget(store.table, person)


def _is_first_contact(happened: Lifecycle) -> bool:
    """Whether somebody may see us for the first time, in a chat that we can write to."""
    if not happened.chat or not happened.user:
        return False
    if happened.kind == "home_opened":
        return happened.detail == "messages"
    return happened.kind in ("chat_entered", "bot_added")
