"""assistant.threads.* and reactions: status line, title, prompts, emoji."""

import re
from typing import Any, cast

from simulator.slack.call import Call, Method
from simulator.slack.errors import SlackError, invalid
from simulator.state.workspace import Message

Json = dict[str, Any]


def _thread(call: Call) -> tuple[str, Message]:
    chat = call.channel("channel_id")
    root = call.side.space.find(call.need("thread_ts"))
    if root is None or root.chat != chat.id:
        raise SlackError("thread_not_found")
    return f"{chat.id}:{root.id}", root


def set_status(call: Call) -> Json:
    """The line "is thinking…" under a thread; empty takes it away."""
    key, root = _thread(call)
    if "status" not in call.arguments:
        raise invalid("missing required field: status")
    root.status = call.text("status")
    root.extra["loading_messages"] = call.json("loading_messages")
    call.side.statuses[key] = root.status
    call.side.space.touch(root)
    return {}


def set_title(call: Call) -> Json:
    """The title of an assistant thread."""
    key, root = _thread(call)
    call.side.titles[key] = root.extra["title"] = call.need("title")
    call.side.space.touch(root)
    return {}


def set_prompts(call: Call) -> Json:
    """Up to four suggested prompts; thread_ts is optional in the agent view."""
    chat = call.channel("channel_id")
    prompts = call.json("prompts")
    if not isinstance(prompts, list) or not 0 < len(cast("list[Json]", prompts)) <= 4:
        raise invalid("prompts takes 1 to 4 items")
    for prompt in cast("list[Json]", prompts):
        if not prompt.get("title") or not prompt.get("message"):
            raise invalid("a prompt has title and message")
    call.side.prompts[chat.id] = {"title": call.text("title"), "prompts": prompts}
    return {}


def add_reaction(call: Call) -> Json:
    """reactions.add."""
    chat = call.channel()
    message = call.message(chat, call.need("timestamp", "no_item_specified"))
    name = call.need("name", "invalid_name").strip(":")
    if not re.fullmatch(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?", name):
        raise SlackError("invalid_name")
    who = message.reactions.setdefault(name, [])
    if call.caller in who:
        raise SlackError("already_reacted")
    who.append(call.caller)
    call.side.space.touch(message)
    return {}


def remove_reaction(call: Call) -> Json:
    """reactions.remove."""
    chat = call.channel()
    message = call.message(chat, call.need("timestamp", "no_item_specified"))
    name = call.need("name", "invalid_name").strip(":")
    if call.caller not in message.reactions.get(name, []):
        raise SlackError("no_reaction")
    message.reactions[name].remove(call.caller)
    if not message.reactions[name]:
        del message.reactions[name]
    call.side.space.touch(message)
    return {}


METHODS = {
    "assistant.threads.setStatus": Method(set_status, "bot"),
    "assistant.threads.setTitle": Method(set_title, "bot"),
    "assistant.threads.setSuggestedPrompts": Method(set_prompts, "bot"),
    "reactions.add": Method(add_reaction),
    "reactions.remove": Method(remove_reaction),
}
