"""Reads a Slack message event into the asker, the place, plain words and files (SLACK.md 2.4)."""

from __future__ import annotations

from collections.abc import Mapping

from agent.domain import Attachment, ChatRef, Identity, Json, Mention, Question
from agent.language import detect
from connectors import wire
from connectors.incoming import Home
from connectors.slack import mrkdwn

MAX_PARTS = 100
"""Most files and most mentions kept of one message."""

_GONE = ("tombstone", "hidden_by_limit")

Fields = Mapping[str, Json]


def own_ids(envelope: Fields, home: Home) -> frozenset[str]:
    """The user ids of our bot: the configured one and those that the event was authorised for."""
    found = {home.bot}
    for entry in wire.objects(envelope.get("authorizations")):
        if entry.get("is_bot") is True:
            found.add(wire.identifier(entry.get("user_id")))
    return frozenset(found - {""})


def tenant_of(envelope: Fields) -> str:
    """The enterprise of an organisation-wide install, else the team the app is installed in."""
    for entry in wire.objects(envelope.get("authorizations")):
        if entry.get("is_enterprise_install") is True:
            return wire.identifier(entry.get("enterprise_id"))
        if team := wire.identifier(entry.get("team_id")):
            return team
    return wire.identifier(envelope.get("team_id"))


def asker(envelope: Fields, event: Fields, home: Home) -> Identity:
    """Who wrote the message."""
    return Identity(
        org=home.org,
        platform="slack",
        app=wire.identifier(envelope.get("api_app_id")),
        tenant=tenant_of(envelope),
        user=wire.identifier(event.get("user")),
        external=_external(envelope, event),
    )


def _external(envelope: Fields, event: Fields) -> bool:
    """Whether the writer belongs to another organisation (Slack Connect)."""
    teams = [wire.identifier(event.get(key)) for key in ("user_team", "source_team", "team")]
    team = next((value for value in teams if value), "")
    keys = ("team_id", "enterprise_id", "context_team_id", "context_enterprise_id")
    ours = {tenant_of(envelope), *(wire.identifier(envelope.get(key)) for key in keys)}
    return bool(team) and team not in ours


def addressed(envelope: Fields, home: Home) -> bool:
    """Whether the message names our bot."""
    event = wire.members(envelope.get("event"))
    return words(event, own_ids(envelope, home)).addressed


def place(event: Fields) -> ChatRef:
    """Where the message stands. app_mention names no channel type; direct chats start with D."""
    chat, ts = wire.identifier(event.get("channel")), wire.identifier(event.get("ts"))
    kind = event.get("channel_type")
    direct = kind == "im" or (kind is None and chat.startswith("D"))
    thread = wire.identifier(event.get("thread_ts"))
    return ChatRef(
        chat=chat,
        kind="direct" if direct else "group",
        message=ts,
        thread=thread if thread and thread != ts else None,
    )


def words(event: Fields, own: frozenset[str]) -> mrkdwn.Words:
    """What was said: the text, or the blocks when the text is empty, or what was forwarded."""
    if text := wire.text(event.get("text")):
        return mrkdwn.plain(text, own)
    if (read := mrkdwn.blocks(event.get("blocks"), own)).text:
        return read
    forwarded = [
        mrkdwn.plain(wire.text(part.get("text") or part.get("fallback")), own)
        for part in wire.objects(event.get("attachments"))[:MAX_PARTS]
    ]
    people = {user: name for part in forwarded for user, name in part.people}
    text = "\n".join(part.text for part in forwarded if part.text)
    return mrkdwn.Words(wire.clip(text), tuple(people.items()), read.addressed)


def files(value: Json) -> tuple[Attachment, ...]:
    """The files of a message.

    A file of a shared channel comes as an id only: its `locator` and `media_type` are empty, and
    files.info has to be asked. Deleted files are left out.
    """
    found: list[Attachment] = []
    for entry in wire.objects(value)[:MAX_PARTS]:
        key, media = wire.identifier(entry.get("id")), wire.name(entry.get("mimetype"))
        if not key or entry.get("mode") in _GONE:
            continue
        address = wire.text(entry.get("url_private_download") or entry.get("url_private"))
        found.append(
            Attachment(
                kind="image" if media.startswith("image/") else "file",
                key=key,
                name=wire.name(entry.get("name")),
                media_type=media,
                size=wire.whole(entry.get("size")),
                locator=address if address.startswith("https://") else "",
            )
        )
    return tuple(found)


def question(envelope: Fields, event: Fields, home: Home, now: float) -> Question:
    """The whole message as a question; `now` stands in for a time that is missing."""
    said = words(event, own_ids(envelope, home))
    people = [Mention(user, wire.name(name)) for user, name in said.people[:MAX_PARTS]]
    return Question(
        asker=asker(envelope, event, home),
        chat=place(event),
        text=said.text,
        language=detect(said.text, "en"),
        asked_at=wire.seconds(event.get("ts")) or now,
        attachments=files(event.get("files")),
        mentions=tuple(people),
        platform_hints=_hints(envelope, event),
    )


def _hints(envelope: Fields, event: Fields) -> dict[str, str]:
    """What later calls need: the workspace of the event, the token that permits a search."""
    token = wire.members(event.get("assistant_thread")).get("action_token")
    found = {
        "team": wire.identifier(envelope.get("team_id")),
        "user_team": wire.identifier(event.get("user_team") or event.get("team")),
        "action_token": wire.text(token or event.get("action_token")),
    }
    return {key: value for key, value in found.items() if value}
