"""Every key of the table, and every value of its indexes: no other file builds one."""

from __future__ import annotations

import hashlib
import json

from agent.domain import ChatRef, Identity
from agent.ports import Key

TURNS = "T#"
"""Prefix of a session's turns, in the order of their messages."""
PENDING = "Q#"
"""Prefix of a session's pending markers, in the order of their messages."""
PAUSES = "PAUSE#"
"""Prefix of an organisation's pauses."""
LISTENING = "LISTEN#"
"""Prefix of the channels whose threads an organisation's bot follows."""
STEPS = "STEP#"
"""Prefix of a turn's journal steps."""
HOLDERS = "U#"
"""Prefix of a workspace's people who have a token."""

DUE_SHARDS = 8
"""Partitions of the index `due`; a sweeper asks all of them."""


_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = [a + b for a in _DIGITS for b in _DIGITS]
_PLACES = range(120, -1, -10)
"""Base32 by ten bits at a time: the standard library's own takes three times as long."""


def _hash(*parts: str) -> str:
    """26 characters (130 bits) of base32; the JSON list keeps parts apart, whatever they hold."""
    joined = '", "'.join(parts)
    plain = joined.isascii() and joined.isprintable() and "\\" not in joined
    if plain and joined.count('"') == 2 * (len(parts) - 1):
        text = f'["{joined}"]'  # what json.dumps gives for such parts, at a twentieth of its cost
    else:
        text = json.dumps(parts)
    bits = int.from_bytes(hashlib.sha256(text.encode()).digest()[:17], "big") >> 6
    return "".join([_PAIRS[bits >> at & 1023] for at in _PLACES])


def _joined(*parts: str) -> str:
    """Parts with # between them.

    Raises:
        ValueError: a part is empty or holds #, and could then be taken for another key.
    """
    for part in parts:
        if not part or "#" in part:
            raise ValueError(f"{part!r} can not be part of a key")
    return "#".join(parts)


# --- identities ------------------------------------------------------------------------------


def session_id(asker: Identity, chat: ChatRef) -> str:
    """The session a message belongs to: its organisation, app, chat and thread."""
    return _hash(asker.org, asker.platform, asker.app, chat.chat, chat.session_root)


def turn_id(app: str, chat: str, message: str) -> str:
    """The turn of a message. The same message is the same turn, under whatever event id."""
    return _hash(app, chat, message)


def action_turn_id(action: str, user: str, at: str) -> str:
    """The turn of a pressed button; `at` is the action's own time as the platform wrote it."""
    return _hash(action, user, at)


def short(value: str) -> str:
    """Any text as 26 characters that may be part of a key."""
    return _hash(value)


def order(at: float) -> str:
    """A message's place in its session: its own time (s since the epoch) in 15 digits of ms."""
    return f"{max(round(at * 1000), 0):015d}"


# --- organisation ----------------------------------------------------------------------------


def workspace(platform: str, app: str, tenant: str) -> Key:
    """Which organisation a workspace belongs to."""
    return Key("W#" + _joined(platform, app, tenant), "MAP")


def organisation(org: str) -> Key:
    """The organisation itself."""
    return Key("ORG#" + _joined(org), "META")


def configuration(org: str, version: int) -> Key:
    """One pushed version of the configuration."""
    return Key("ORG#" + _joined(org), f"CFG#{version:08d}")


def space(org: str, name: str) -> Key:
    """A space of the knowledge base: owner, readers, escalation chat."""
    return Key("ORG#" + _joined(org), "SPACE#" + _joined(name))


def pause(org: str, place: str) -> Key:
    """That the bot keeps quiet in a place."""
    return Key("ORG#" + _joined(org), PAUSES + _joined(place))


def listening(org: str, place: str) -> Key:
    """That replies in a channel's threads are taken without a mention."""
    return Key("ORG#" + _joined(org), LISTENING + _joined(place))


def deaf(org: str, place: str) -> Key:
    """That a thread of such a channel is an exception."""
    return Key("ORG#" + _joined(org), "DEAF#" + _joined(place))


def acl_version(org: str) -> Key:
    """The number that grows whenever somebody's rights change."""
    return Key("ORG#" + _joined(org), "ACLV")


# --- session ---------------------------------------------------------------------------------


def session(sid: str) -> str:
    """The partition of everything a session shares."""
    return "S#" + sid


def turn(sid: str, place: str, turn_: str) -> Key:
    """The turn's record, which is also its inbox record."""
    return Key(session(sid), f"{TURNS}{place}#{turn_}")


def marker(sid: str, place: str, turn_: str) -> Key:
    """The sign that a turn waits or runs; deleted when it ends."""
    return Key(session(sid), f"{PENDING}{place}#{turn_}")


def lock(sid: str) -> Key:
    """The session's fenced lease."""
    return Key(session(sid), "LOCK")


def snapshot(sid: str) -> Key:
    """What the session remembers."""
    return Key(session(sid), "SNAP")


def private_context(sid: str, principal: str) -> Key:
    """What one person's follow-up question may build on, sealed."""
    return Key(session(sid), "PRIV#" + _joined(principal))


# --- turn ------------------------------------------------------------------------------------


def journal(turn_: str) -> str:
    """The partition of everything a turn leaves behind."""
    return "J#" + turn_


def model_step(turn_: str, step: int) -> Key:
    """What the model said in one step."""
    return Key(journal(turn_), f"{STEPS}{step:04d}")


def tool_step(turn_: str, step: int, call: int) -> Key:
    """What the step's call number `call` (from 1, in call order) came to."""
    return Key(journal(turn_), f"{STEPS}{step:04d}#c{call}")


def arrival(turn_: str) -> Key:
    """That the turn's message came, whatever time or thread a delivery of it names."""
    return Key(journal(turn_), "IN")


def visible(turn_: str) -> Key:
    """The text that the asker saw at the last step boundary."""
    return Key(journal(turn_), "VIEW")


def outbox(turn_: str, part: str) -> Key:
    """One message of ours on its way to the platform."""
    return Key(journal(turn_), "OUT#" + _joined(part))


def answer(turn_: str) -> Key:
    """What the turn ended with, sealed."""
    return Key(journal(turn_), "ANS")


def feedback(turn_: str, principal: str) -> Key:
    """What one person thought of the answer."""
    return Key(journal(turn_), "FB#" + _joined(principal))


def claim(turn_: str, action: str) -> Key:
    """Which press had this effect on the turn's answer."""
    return Key(journal(turn_), "ACT#" + _joined(action))


def audit_event(turn_: str, number: int) -> Key:
    """One link of the turn's audit chain."""
    return Key(journal(turn_), f"AUD#{number:04d}")


def audit_head(org: str, sequence: int) -> Key:
    """One link of the organisation's audit chain."""
    return Key("AH#" + _joined(org), f"{sequence:012d}")


def approval(approval_: str) -> Key:
    """A decision that a person has to take."""
    return Key("A#" + _joined(approval_), "A")


# --- person, platform ------------------------------------------------------------------------


def preferences(principal: str) -> Key:
    """What a person set for themselves."""
    return Key("P#" + _joined(principal), "PREF")


def consent(principal: str, connector: str) -> Key:
    """Whether a person lets the bot use a connector for them."""
    return Key("P#" + _joined(principal), "CON#" + _joined(connector))


def offered(principal: str) -> Key:
    """That a person was offered to connect own sources not long ago."""
    return Key("P#" + _joined(principal), "OFFER")


def user_token(principal: str, purpose: str) -> Key:
    """A person's token, sealed."""
    return Key("P#" + _joined(principal), "TOK#" + _joined(purpose))


def data_key(principal: str) -> Key:
    """A person's data key, sealed; without it their private items can not be read."""
    return Key("P#" + _joined(principal), "KEY")


def app_token(platform: str, app: str, tenant: str) -> Key:
    """The app's own token for a workspace, sealed."""
    return Key("X#" + _joined(platform, app, tenant), "TOK")


def workspace_holders(platform: str, app: str, tenant: str) -> str:
    """The partition of a workspace's own token and of those who have one."""
    return "X#" + _joined(platform, app, tenant)


def token_holder(platform: str, app: str, tenant: str, user: str) -> Key:
    """That a person of the workspace has a token."""
    return Key(workspace_holders(platform, app, tenant), HOLDERS + _joined(user))


def sign_in(state_hash: str) -> Key:
    """A sign-in that has begun."""
    return Key("O#" + _joined(state_hash), "O")


def budget(org: str, scope: str, id_: str, day: str) -> Key:
    """What was spent on a day (yyyymmdd in the organisation's time zone)."""
    return Key("B#" + _joined(org), _joined(scope, id_, day))


def rate_window(platform: str, app: str, tenant: str, api: str, window: str) -> Key:
    """How many calls of an API were made in a window."""
    return Key("R#" + _joined(platform, app, tenant, api), _joined(window))


def rate_hold(platform: str, app: str, tenant: str, api: str) -> Key:
    """Until when an API asked to be left alone."""
    return Key("R#" + _joined(platform, app, tenant, api), "HOLD")


def directory_person(org: str, workspace_: str, user: str) -> Key:
    """A person as the workspace's directory has them."""
    return Key("D#" + _joined(org, workspace_), "U#" + _joined(user))


def directory_membership(org: str, workspace_: str, user: str, group: str) -> Key:
    """That a person is in a group."""
    return Key("D#" + _joined(org, workspace_), "UG#" + _joined(user, group))


def chat_members(org: str, workspace_: str, chat: str) -> Key:
    """Who is in a chat."""
    return Key("D#" + _joined(org, workspace_), "CHAT#" + _joined(chat))


# --- knowledge base --------------------------------------------------------------------------


def document(org: str, space_: str, document_: str) -> Key:
    """A document of the knowledge base."""
    return Key("K#" + _joined(org, space_), "D#" + _joined(document_))


def source_cursor(org: str, space_: str, source: str) -> Key:
    """How far a source was read."""
    return Key("K#" + _joined(org, space_), "CUR#" + _joined(source))


# --- indexes ---------------------------------------------------------------------------------


def due_partitions() -> tuple[str, ...]:
    """All partitions of the index `due`."""
    return tuple(f"DUE#{shard}" for shard in range(DUE_SHARDS))


def due(id_: str, at: float) -> tuple[str, str]:
    """due_pk and due_sk of what has to be looked at from `at` (seconds since the epoch) on.

    The partition follows from the identity (a session or turn), so that load spreads evenly.
    """
    return f"DUE#{sum(id_.encode()) % DUE_SHARDS}", order(at)


def own_audit(org: str, kind: str, day: str) -> str:
    """own_pk of an organisation's audit events of one kind and day."""
    return "AUD#" + _joined(org, kind, day)


def own_gap(org: str, day: str) -> str:
    """own_pk of a day's refused and disliked questions: what the knowledge base lacks."""
    return "GAP#" + _joined(org, day)
