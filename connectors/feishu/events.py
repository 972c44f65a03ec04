"""Says what a verified Feishu event or card callback means (envelopes: FEISHU.md 2.1, 2.4-2.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from agent.domain import ChatRef, Identity, Json, Question
from agent.language import detect
from connectors import wire
from connectors.feishu import reader
from connectors.incoming import (
    Action,
    Challenge,
    Home,
    Ignored,
    Incoming,
    Lifecycle,
    Message,
    Overheard,
    Recalled,
    Refused,
)

Fields = Mapping[str, Json]


def interpret(payload: Fields, home: Home, now: float) -> Incoming:
    """What a decrypted and verified body means. Never raises, whatever stands in it.

    `now` stands in for a message time that is missing.
    """
    if payload.get("type") == "url_verification":
        return Challenge(wire.text(payload.get("challenge")))
    if payload.get("schema") != "2.0":
        return Ignored("old_format")
    header, event = wire.members(payload.get("header")), wire.members(payload.get("event"))
    if home.app and header.get("app_id") != home.app:
        return Refused("app")
    if home.tenant and header.get("tenant_key") != home.tenant:
        return Refused("tenant")
    kind = wire.text(header.get("event_type"))
    if kind == "im.message.receive_v1":
        return _message(header, event, home, now)
    read = _OTHERS.get(kind)
    found = read(header, event) if read else Ignored("unknown_event")
    tenant, app = (wire.identifier(header.get(name)) for name in ("tenant_key", "app_id"))
    if isinstance(found, Recalled):
        return replace(found, app=app)
    if not isinstance(found, Lifecycle):
        return found
    operator = wire.members(event.get("operator")).get("tenant_key")
    foreign = _foreign(operator or event.get("operator_tenant_key"), header)
    return replace(found, tenant=tenant, app=app, external=foreign)


def _foreign(tenant: Json, header: Fields) -> bool:
    """Whether a tenant is named and is another one than that of the event."""
    return tenant not in (None, "", header.get("tenant_key"))


def _message(header: Fields, event: Fields, home: Home, now: float) -> Incoming:
    sender, message = wire.members(event.get("sender")), wire.members(event.get("message"))
    kind = wire.text(message.get("message_type"))
    if kind == "system":
        return Ignored("system")
    if sender.get("sender_type") != "user":
        return Ignored("not_a_person")
    asker, chat = _asker(header, sender, home), _chat(message)
    if not asker.user or not asker.app or not chat.chat or not chat.message:
        return Ignored("malformed")
    if asker.user == home.bot:
        return Ignored("own_message")
    mentions = reader.read_mentions(message.get("mentions"), home.bot)
    addressed = chat.kind == "direct" or bool(mentions.own)
    if not addressed:
        if reader.mentions_everyone(message):
            return Ignored("everyone_mentioned")
        if not chat.thread or mentions.people or asker.external:
            return Ignored("not_addressed")
    reading = reader.read(kind, wire.text(message.get("content")), mentions)
    created = wire.whole(message.get("create_time")) or wire.whole(header.get("create_time"))
    hints = _hints(header, sender, message)
    question = Question(
        asker=asker,
        chat=chat,
        text=reading.text,
        language=detect(reading.text, "zh"),
        asked_at=created / 1000 if created else now,
        attachments=reading.attachments,
        mentions=mentions.people,
        deferred=_deferred(kind, reading, chat, hints),
        unsupported=reading.unsupported,
        platform_hints=hints,
    )
    taken = Message if addressed else Overheard
    return taken(question, _event_id(header))


def _hints(header: Fields, sender: Fields, message: Fields) -> dict[str, str]:
    """What later calls need: the topic, and the message that was quoted.

    `outsiders` says that people of another company read the chat: the sender or somebody who is
    named in the message has another tenant. A chat that shows none of them may still be external.
    """
    named = [mention.get("tenant_key") for mention in wire.objects(message.get("mentions"))]
    tenants = (sender.get("tenant_key"), *named)
    found = {
        "thread_id": wire.identifier(message.get("thread_id")),
        "parent": wire.identifier(message.get("parent_id")),
        "outsiders": "1" if any(_foreign(tenant, header) for tenant in tenants) else "",
    }
    return {key: value for key, value in found.items() if value}


def _deferred(kind: str, reading: reader.Reading, chat: ChatRef, hints: Mapping[str, str]) -> str:
    """What the worker has to fetch, as words with a space between.

    Inside a topic the parent is the topic's root, which comes with the topic.
    """
    wanted = [reading.deferred, "card" if kind == "interactive" else ""]
    if "thread_id" in hints and chat.thread:
        wanted.append("thread")
    elif "parent" in hints:
        wanted.append("quote")
    return " ".join(word for word in wanted if word)


def _asker(header: Fields, sender: Fields, home: Home) -> Identity:
    tenant = wire.identifier(header.get("tenant_key"))
    return Identity(
        org=home.org,
        platform="feishu",
        app=wire.identifier(header.get("app_id")),
        tenant=tenant,
        user=_open_id(sender.get("sender_id")),
        external=_foreign(sender.get("tenant_key"), header),
    )


def _chat(message: Fields) -> ChatRef:
    """Where a message stands.

    A reply in a direct chat that opens no topic is a mere quotation: it belongs to the one session
    of that chat.
    """
    direct = message.get("chat_type") == "p2p"
    topic = bool(wire.identifier(message.get("thread_id")))
    root = wire.identifier(message.get("root_id"))
    return ChatRef(
        chat=wire.identifier(message.get("chat_id")),
        kind="direct" if direct else "group",
        message=wire.identifier(message.get("message_id")),
        thread=root if root and (topic or not direct) else None,
        topic=topic,
    )


def _open_id(value: Json) -> str:
    return wire.identifier(wire.members(value).get("open_id"))


def _event_id(header: Fields) -> str:
    return wire.identifier(header.get("event_id"))


def _recalled(header: Fields, event: Fields) -> Incoming:
    chat, message = wire.identifier(event.get("chat_id")), wire.identifier(event.get("message_id"))
    return Recalled(chat, message, _event_id(header)) if message else Ignored("malformed")


def _action(header: Fields, event: Fields) -> Incoming:
    operator, action = wire.members(event.get("operator")), wire.members(event.get("action"))
    context = wire.members(event.get("context"))
    form = action.get("form_value")
    return Action(
        kind="button" if form is None else "form",
        user=_open_id(operator),
        tenant=wire.identifier(header.get("tenant_key")),
        chat=wire.identifier(context.get("open_chat_id")),
        message=wire.identifier(context.get("open_message_id")),
        name=wire.text(action.get("name") or action.get("tag")),
        value=action.get("value"),
        form=wire.members(form),
        reply=wire.text(event.get("token")),
        at=wire.text(header.get("create_time")),
        event=_event_id(header),
        external=_foreign(operator.get("tenant_key"), header),
    )


def _left(header: Fields, event: Fields) -> Incoming:
    """Somebody left the company; a consent that is withdrawn has no event of its own."""
    user = wire.identifier(wire.members(event.get("object")).get("open_id"))
    return Lifecycle("tokens_revoked", _event_id(header), people=(user,) if user else ())


def _uninstalled(header: Fields, event: Fields) -> Incoming:
    """The app was removed from the tenant (the event's name is from memory)."""
    del event
    return Lifecycle("uninstalled", _event_id(header))


def _menu(header: Fields, event: Fields) -> Incoming:
    user = _open_id(wire.members(event.get("operator")).get("operator_id"))
    key = wire.text(event.get("event_key"))
    return Lifecycle("menu", _event_id(header), user=user, detail=key)


def _bot_added(header: Fields, event: Fields) -> Incoming:
    user, chat = _open_id(event.get("operator_id")), wire.identifier(event.get("chat_id"))
    outsiders = event.get("external") is True
    return Lifecycle("bot_added", _event_id(header), user=user, chat=chat, outsiders=outsiders)


def _bot_removed(header: Fields, event: Fields) -> Incoming:
    user, chat = _open_id(event.get("operator_id")), wire.identifier(event.get("chat_id"))
    return Lifecycle("bot_removed", _event_id(header), user=user, chat=chat)


def _entered(header: Fields, event: Fields) -> Incoming:
    user, chat = _open_id(event.get("operator_id")), wire.identifier(event.get("chat_id"))
    return Lifecycle("chat_entered", _event_id(header), user=user, chat=chat)


def _reaction(header: Fields, event: Fields) -> Incoming:
    if event.get("operator_type") != "user":
        return Ignored("not_a_person")
    return Lifecycle(
        "reaction",
        _event_id(header),
        user=_open_id(event.get("user_id")),
        message=wire.identifier(event.get("message_id")),
        detail=wire.text(wire.members(event.get("reaction_type")).get("emoji_type")),
    )


_OTHERS: Mapping[str, Callable[[Fields, Fields], Incoming]] = {
    "im.message.recalled_v1": _recalled,
    "card.action.trigger": _action,
    "contact.user.deleted_v3": _left,
    "app_uninstalled": _uninstalled,
    "application.bot.menu_v6": _menu,
    "im.chat.member.bot.added_v1": _bot_added,
    "im.chat.member.bot.deleted_v1": _bot_removed,
    "im.chat.access_event.bot_p2p_chat_entered_v1": _entered,
    "im.message.reaction.created_v1": _reaction,
}
