"""Reads a Slack message event into the asker, the place, plain words and files (SLACK.md 2.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.domain import Attachment, ChatRef, Identity, Json, Material, Mention, Question
from agent.language import detect
from agent.material import bounded
from connectors import wire
from connectors.incoming import Home
from connectors.slack import mrkdwn

MAX_PARTS = 100
"""Most files and most mentions kept of one message."""

_GONE = {"tombstone": "deleted", "hidden_by_limit": "hidden by the storage limit"}

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
        external=is_external(envelope, event),
    )


def is_external(envelope: Fields, event: Fields) -> bool:
    """Whether the person of an event belongs to another organisation (Slack Connect)."""
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
    """What was said: the text, or the blocks when the text is empty."""
    if text := wire.text(event.get("text")):
        return mrkdwn.plain(text, own)
    return mrkdwn.blocks(event.get("blocks"), own)


def shared(event: Fields, own: frozenset[str]) -> tuple[Material, ...]:
    """What hangs on a message: messages that were shared with it, previews of pages.

    These are other people's words, never the asker's.
    """
    found: list[Material] = []
    for part in wire.objects(event.get("attachments"))[:MAX_PARTS]:
        text = mrkdwn.plain(wire.text(part.get("text")), own).text
        if not text:
            text = mrkdwn.blocks(part.get("message_blocks") or part.get("blocks"), own).text
        title = wire.name(part.get("title"))
        text = "\n".join(line for line in (title, text) if line)
        text = text or mrkdwn.plain(wire.text(part.get("fallback")), own).text
        named = [_file(entry) for entry in wire.objects(part.get("files"))[:MAX_PARTS]]
        text = "\n".join((text, *named)) if text else "\n".join(named)
        author = wire.name(part.get("author_name") or part.get("service_name"))
        if text:
            author = author or wire.identifier(part.get("author_id"))
            found.append(Material("shared", author, wire.seconds(part.get("ts")), text))
    return tuple(found)


def lost_files(value: Json) -> tuple[Material, ...]:
    """A line for each file that was deleted or lies behind the workspace's storage limit."""
    return tuple(
        Material("unread", text=f"Not read: {_file(entry)}.")
        for entry in wire.objects(value)[:MAX_PARTS]
        if wire.text(entry.get("mode")) in _GONE
    )


def _file(entry: Fields) -> str:
    name = wire.name(entry.get("name") or entry.get("title")) or wire.identifier(entry.get("id"))
    mode = entry.get("mode")
    state = _GONE[mode] if isinstance(mode, str) and mode in _GONE else "not read"
    what = "picture" if wire.name(entry.get("mimetype")).startswith("image/") else "file"
    return f"[{what} {name}, {state}]"


def spoken(message: Fields, own: frozenset[str]) -> str:
    """All that another message shows: its words, what hangs on it, its files by name."""
    if message.get("subtype") == "tombstone":
        return "[a deleted message]"
    hung = [f"> {piece.text}" for piece in shared(message, own)]
    files_ = [_file(entry) for entry in wire.objects(message.get("files"))[:MAX_PARTS]]
    said = words(message, own).text
    return "\n".join(part for part in (said, *hung, *files_) if part)


def files(value: Json) -> tuple[Attachment, ...]:
    """The files of a message.

    A file of a shared channel comes as an id only: its `locator` and `media_type` are empty, and
    files.info has to be asked. Deleted files are left out.
    """
    found: list[Attachment] = []
    for entry in wire.objects(value)[:MAX_PARTS]:
        key, media = wire.identifier(entry.get("id")), wire.name(entry.get("mimetype"))
        if not key or wire.text(entry.get("mode")) in _GONE:
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
    own = own_ids(envelope, home)
    said = words(event, own)
    found, hung = files(event.get("files")), shared(event, own)
    chat = place(event)
    people = [Mention(user, wire.name(name)) for user, name in said.people[:MAX_PARTS]]
    return Question(
        asker=asker(envelope, event, home),
        chat=chat,
        text=said.text,
        language=detect(said.text or " ".join(piece.text for piece in hung), "en"),
        asked_at=wire.seconds(event.get("ts")) or now,
        attachments=found,
        mentions=tuple(people),
        deferred=_deferred(chat, found),
        platform_hints=_hints(envelope, event),
        material=bounded((*hung, *lost_files(event.get("files")))),
    )


def _deferred(chat: ChatRef, found: Sequence[Attachment]) -> str:
    """What the worker has to fetch, as words with a space between."""
    wanted = ("thread" if chat.thread else "", "files" if any(not a.name for a in found) else "")
    return " ".join(word for word in wanted if word)


def _hints(envelope: Fields, event: Fields) -> dict[str, str]:
    """What later calls need: the workspace of the event, the token that permits a search.

    `outsiders` says that people of another company read the channel (Slack Connect).
    """
    token = wire.members(event.get("assistant_thread")).get("action_token")
    found = {
        "team": wire.identifier(envelope.get("team_id")),
        "user_team": wire.identifier(event.get("user_team") or event.get("team")),
        "action_token": wire.text(token or event.get("action_token")),
        "outsiders": "1" if envelope.get("is_ext_shared_channel") is True else "",
    }
    return {key: value for key, value in found.items() if value}
