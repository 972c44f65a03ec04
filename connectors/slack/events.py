"""Says what a verified Slack request means: Events API, slash commands, controls (SLACK.md 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

from agent.domain import Json
from connectors import wire
from connectors.incoming import (
    Action,
    Challenge,
    Command,
    Edited,
    Home,
    Ignored,
    Incoming,
    Lifecycle,
    LifecycleKind,
    Message,
    Overheard,
    Recalled,
    Refused,
)
from connectors.slack import reader

Fields = Mapping[str, Json]

_KEPT = (None, "", "file_share", "thread_broadcast", "me_message")


def interpret(payload: Fields, home: Home, now: float) -> Incoming:
    """What a verified JSON body means. Never raises, whatever stands in it."""
    if payload.get("type") == "url_verification":
        return Challenge(wire.text(payload.get("challenge")))
    if fault := _foreign(payload, home, reader.tenant_of(payload)):
        return fault
    if payload.get("type") == "app_rate_limited":
        return Lifecycle("rate_limited", "")
    event = wire.members(payload.get("event"))
    if payload.get("type") != "event_callback":
        return Ignored("unknown_event")
    kind = wire.text(event.get("type"))
    if kind in ("message", "app_mention"):
        return _message(kind, payload, event, home, now)
    read = _OTHERS.get(kind)
    if read is None:
        return Ignored("unknown_event")
    found = read(wire.identifier(payload.get("event_id")), event)
    if not isinstance(found, Lifecycle):
        return found
    app = wire.identifier(payload.get("api_app_id"))
    return replace(
        found,
        tenant=reader.tenant_of(payload),
        app=app,
        external=reader.is_external(payload, event),
        outsiders=payload.get("is_ext_shared_channel") is True,
    )


def interpret_form(fields: Mapping[str, str], home: Home) -> Incoming:
    """What a verified form body means: a slash command or the use of a control."""
    if "payload" in fields:
        return interpret_control(wire.parse(fields["payload"]) or {}, home)
    if "command" not in fields:
        return Ignored("unknown_form")
    enterprise = fields.get("is_enterprise_install") == "true"
    tenant = wire.identifier(fields.get("enterprise_id" if enterprise else "team_id"))
    own = {"api_app_id": wire.text(fields.get("api_app_id"))}
    if fault := _foreign(own, home, tenant):
        return fault
    return Command(
        user=wire.identifier(fields.get("user_id")),
        tenant=tenant,
        chat=wire.identifier(fields.get("channel_id")),
        name=wire.name(fields["command"]),
        text=wire.text(fields.get("text")),
        reply=wire.text(fields.get("response_url")),
        app=wire.identifier(fields.get("api_app_id")),
        trigger=wire.text(fields.get("trigger_id")),
    )


def _foreign(payload: Fields, home: Home, tenant: str) -> Refused | None:
    if home.app and payload.get("api_app_id") != home.app:
        return Refused("app")
    return Refused("tenant") if home.tenant and tenant != home.tenant else None


def _message(kind: str, payload: Fields, event: Fields, home: Home, now: float) -> Incoming:
    event_id = wire.identifier(payload.get("event_id"))
    if event.get("subtype") == "message_deleted":
        return _gone(payload, event, event.get("deleted_ts"))
    if event.get("subtype") == "message_changed":
        return _changed(payload, event, home, now)
    if reason := _noise(event, reader.own_ids(payload, home)):
        return Ignored(reason)
    question = reader.question(payload, event, home, now)
    known = question.asker.user and question.asker.app and question.chat.chat
    if not known or not question.chat.message:
        return Ignored("malformed")
    if kind == "message" and question.chat.kind == "group" and not reader.addressed(payload, home):
        alone = question.chat.thread and not question.mentions and not question.asker.external
        return Overheard(question, event_id) if alone else Ignored("not_addressed")
    return Message(question, event_id)


def _gone(payload: Fields, event: Fields, ts: Json) -> Incoming:
    chat, message = wire.identifier(event.get("channel")), wire.identifier(ts)
    app, event_id = (wire.identifier(payload.get(name)) for name in ("api_app_id", "event_id"))
    return Recalled(chat, message, event_id, app) if message else Ignored("malformed")


def _changed(payload: Fields, event: Fields, home: Home, now: float) -> Incoming:
    """A message as it reads now; a thread's root that was deleted stays behind as a tombstone.

    The platform sends the same when it adds a preview or counts a reply: then the words are the
    old ones and `edited` is missing.
    """
    message = wire.members(event.get("message"))
    if message.get("subtype") == "tombstone":
        return _gone(payload, event, message.get("ts"))
    stamp = wire.seconds(wire.members(message.get("edited")).get("ts"))
    if not stamp or message.get("subtype") not in _KEPT:
        return Ignored("subtype")
    place = {name: event[name] for name in ("channel", "channel_type") if name in event}
    inner = {**message, **place}
    if reason := _noise(inner, reader.own_ids(payload, home)):
        return Ignored(reason)
    question = reader.question(payload, inner, home, now)
    if not question.asker.app or not question.chat.chat or not question.chat.message:
        return Ignored("malformed")
    return Edited(question, wire.identifier(payload.get("event_id")), stamp)


def _noise(event: Fields, own: frozenset[str]) -> str:
    """Why a message is not a person's new message; empty when it is one."""
    subtype = event.get("subtype")
    if event.get("bot_id") or event.get("bot_profile") or subtype == "bot_message":
        return "bot"
    if event.get("user") in (*own, "USLACKBOT"):
        return "own_message"
    if subtype not in _KEPT or event.get("hidden"):
        return "subtype"
    return ""


def interpret_control(payload: Fields, home: Home) -> Incoming:
    """What the verified use of a control means: a button, a dialog, a message's menu."""
    enterprise = payload.get("is_enterprise_install") is True
    owner = wire.members(payload.get("enterprise" if enterprise else "team"))
    tenant = wire.identifier(owner.get("id"))
    # A message's menu names no app: its signature has proven it.
    expected = home if "api_app_id" in payload else Home(home.org, tenant=home.tenant)
    if fault := _foreign(payload, expected, tenant):
        return fault
    match payload.get("type"):
        case "block_actions":
            pressed = wire.members(next(iter(wire.entries(payload.get("actions"))), None))
            name, value = wire.text(pressed.get("action_id")), pressed.get("value")
            at = wire.text(pressed.get("action_ts"))
            return _used("button", payload, tenant, name, value, at)
        case "view_submission":
            view = wire.members(payload.get("view"))
            name, value = wire.text(view.get("callback_id")), view.get("private_metadata")
            return _used("form", payload, tenant, name, value, wire.text(view.get("hash")))
        case "message_action":
            name, at = wire.text(payload.get("callback_id")), wire.text(payload.get("action_ts"))
            return _used("shortcut", payload, tenant, name, None, at)
        case _:
            return Ignored("unknown_control")


def _used(
    kind: Literal["button", "form", "shortcut"],
    payload: Fields,
    tenant: str,
    name: str,
    value: Json,
    at: str,
) -> Action:
    container = wire.members(payload.get("container"))
    channel = wire.members(payload.get("channel")).get("id") or container.get("channel_id")
    message = payload.get("message_ts") or container.get("message_ts")
    state = wire.members(wire.members(payload.get("view")).get("state") or payload.get("state"))
    return Action(
        kind=kind,
        user=wire.identifier(wire.members(payload.get("user")).get("id")),
        tenant=tenant,
        chat=wire.identifier(channel),
        message=wire.identifier(message),
        name=name,
        value=value,
        form=_form(state),
        reply=wire.text(payload.get("response_url")),
        at=at,
        event="",
        external=_external(payload),
        thread=wire.identifier(container.get("thread_ts")),
    )


def _external(payload: Fields) -> bool:
    """Whether the person belongs to neither the workspace nor its organisation (Slack Connect)."""
    own = wire.members(payload.get("user")).get("team_id")
    places = [wire.members(payload.get(name)).get("id") for name in ("team", "enterprise")]
    return bool(own) and not any(places[1:]) and own not in places


def _form(state: Fields) -> dict[str, Json]:
    """The fields of a form by their action id."""
    return {
        action: wire.members(entry).get("value")
        for block in wire.members(state.get("values")).values()
        for action, entry in wire.members(block).items()
    }


def _thread(kind: LifecycleKind) -> Callable[[str, Fields], Incoming]:
    def read(event_id: str, event: Fields) -> Incoming:
        thread = wire.members(event.get("assistant_thread"))
        return Lifecycle(
            kind,
            event_id,
            user=wire.identifier(thread.get("user_id")),
            chat=wire.identifier(thread.get("channel_id")),
            message=wire.identifier(thread.get("thread_ts")),
            detail=wire.identifier(wire.members(thread.get("context")).get("channel_id")),
        )

    return read


def _home_opened(event_id: str, event: Fields) -> Incoming:
    return Lifecycle(
        "home_opened",
        event_id,
        user=wire.identifier(event.get("user")),
        chat=wire.identifier(event.get("channel")),
        detail=wire.identifier(event.get("tab")),
    )


def _reaction(event_id: str, event: Fields) -> Incoming:
    item = wire.members(event.get("item"))
    return Lifecycle(
        "reaction",
        event_id,
        user=wire.identifier(event.get("user")),
        chat=wire.identifier(item.get("channel")),
        message=wire.identifier(item.get("ts")),
        detail=wire.name(event.get("reaction")),
    )


def _revoked(event_id: str, event: Fields) -> Incoming:
    tokens = wire.members(event.get("tokens"))
    listed = [*wire.entries(tokens.get("oauth")), *wire.entries(tokens.get("bot"))]
    people = (wire.identifier(user) for user in listed)
    return Lifecycle("tokens_revoked", event_id, people=tuple(user for user in people if user))


def _uninstalled(event_id: str, event: Fields) -> Incoming:
    return Lifecycle("uninstalled", event_id)


_OTHERS: Mapping[str, Callable[[str, Fields], Incoming]] = {
    "assistant_thread_started": _thread("thread_started"),
    "assistant_thread_context_changed": _thread("thread_context"),
    "app_home_opened": _home_opened,
    "reaction_added": _reaction,
    "tokens_revoked": _revoked,
    "app_uninstalled": _uninstalled,
}
