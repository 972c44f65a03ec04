"""Emoji on messages."""

import re
from typing import Any, cast

from simulator.feishu.call import Call, Route
from simulator.feishu.errors import FeishuError, recalled
from simulator.feishu.show import millis
from simulator.feishu.side import APP_ID
from simulator.state.workspace import BOT, Message

Json = dict[str, Any]
# The platform's own names, from memory; others are refused as it does (231001).
_NAMES = (
    "OK THUMBSUP THANKS MUSCLE FINGERHEART APPLAUSE FISTBUMP JIAYI DONE SMILE BLUSH LAUGH SMIRK "
    "LOL FACEPALM LOVE WINK PROUD WITTY SMART SCOWL THINKING SOB CRY ERROR HAUGHTY SLAP GLANCE "
    "DULL WOW TRICK YEAH ENOUGH TEARS EMBARRASSED KISS MONEY COMFORT CLAP PRAISE STRIVE SILENT "
    "WAVE WHAT FROWN SHY DIZZY CHUCKLE CRAZY HUG SHHH SMUG ANGRY HAMMER SHOCKED SWEAT SPEECHLESS "
    "SLEEP YAWN SICK PUKE HEADSET EatingFood MeMeMe Sigh Typing Lemon Get LGTM OnIt OneSecond "
    "VRHeadset YouAreTheBest SALUTE SHAKE HIGHFIVE ThumbsDown TONGUE ROSE HEART PARTY LIPS BEER "
    "CAKE GIFT Coffee Yes No OKR CheckMark CrossMark MinusOne Hundred Pin Alarm Loudspeaker Trophy "
    "Fire BOMB Music FIREWORKS HEARTBROKEN POOP StatusReading GoGoGo ThanksFace SaluteFace Shrug "
    "StatusFlashOfInspiration Delighted Partying"
)
KNOWN = frozenset(_NAMES.split())


def _operator(call: Call, login: str) -> Json:
    if login == BOT:
        return {"operator_id": APP_ID, "operator_type": "app"}
    return {"operator_id": call.side.open_id(login), "operator_type": "user"}


def _item(call: Call, emoji: str, login: str, message: Message) -> Json:
    return {
        "reaction_id": f"{message.id}.{emoji}.{login}",
        "operator": _operator(call, login),
        "action_time": millis(call.now),
        "reaction_type": {"emoji_type": emoji},
    }


def add(call: Call) -> Json:
    """POST a reaction; repeating it changes nothing."""
    message = call.message(call.path["message_id"])
    if message.deleted:
        raise recalled()
    emoji = str(cast("Json", call.body.get("reaction_type") or {}).get("emoji_type"))
    if emoji not in KNOWN:
        raise FeishuError(231001, f"reaction type {emoji!r} is invalid", 400)
    who = message.reactions.setdefault(emoji, [])
    if call.caller not in who:
        who.append(call.caller)
        call.side.space.touch(message)
    return _item(call, emoji, call.caller, message)


def listing(call: Call) -> Json:
    """GET the reactions of a message."""
    message = call.message(call.path["message_id"])
    wanted = call.query.get("reaction_type")
    items = [
        _item(call, emoji, login, message)
        for emoji, logins in message.reactions.items()
        if wanted in (None, emoji)
        for login in logins
    ]
    return {"items": items, "has_more": False, "page_token": ""}


def remove(call: Call) -> Json:
    """DELETE a reaction of one's own."""
    message = call.message(call.path["message_id"])
    found = re.fullmatch(r"[^.]+\.([^.]+)\.([^.]+)", call.path["reaction_id"])
    if found is None or call.caller not in message.reactions.get(found.group(1), []):
        raise FeishuError(231011, "no such reaction of yours", 400)
    emoji = found.group(1)
    item = _item(call, emoji, call.caller, message)
    message.reactions[emoji].remove(call.caller)
    if not message.reactions[emoji]:
        del message.reactions[emoji]
    call.side.space.touch(message)
    return item


_PATH = "/open-apis/im/v1/messages/:message_id/reactions"
ROUTES = [
    Route("POST", _PATH, add),
    Route("GET", _PATH, listing),
    Route("DELETE", f"{_PATH}/:reaction_id", remove),
]
