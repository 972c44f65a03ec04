"""response_url: 5 posts within 30 minutes after a command or a button press."""

import secrets
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from simulator.slack.blocks import check_blocks, texts
from simulator.slack.errors import SlackError
from simulator.slack.side import ResponseUrl, SlackSide
from simulator.state.workspace import BOT, Message
from simulator.wire import read

Json = dict[str, Any]
LIFE_S = 1800.0


def new_response_url(side: SlackSide, login: str, chat: str, message_id: str | None) -> str:
    """Make an address on the simulator that takes answers."""
    key = secrets.token_hex(12)
    side.response_urls[key] = ResponseUrl(login, chat, side.world.clock.now(), message_id)
    return f"{side.world.origin}/slack-response/{key}"


def _post(side: SlackSide, target: ResponseUrl, body: Json) -> None:
    message = side.space.find(target.message_id)
    if body.get("delete_original") and message is not None:
        message.deleted = True
        side.space.touch(message)
        return
    blocks = check_blocks(body.get("blocks"))
    text = str(body.get("text") or "\n".join(texts(blocks)))
    if not text:
        raise SlackError("no_text")
    if body.get("replace_original") and message is not None:
        message.text, message.blocks = text, blocks
        message.extra["raw_text"] = text
        message.edits += 1
        message.updated = side.world.clock.now()
        side.space.touch(message)
        return
    public = body.get("response_type") == "in_channel"
    side.space.add(
        Message(
            id=side.new_ts(),
            chat=target.chat,
            author=BOT,
            at=side.world.clock.now(),
            kind="text" if public else "ephemeral",
            text=text,
            blocks=blocks,
            thread=body.get("thread_ts"),
            visible_to=None if public else target.login,
        )
    )


def _usable(side: SlackSide, key: str) -> ResponseUrl:
    target = side.response_urls.get(key)
    if target is None or target.left < 1 or side.world.clock.now() > target.made + LIFE_S:
        raise SlackError("expired_url", 404)
    return target


async def respond(side: SlackSide, request: Request) -> Response:
    """POST to a response_url; the answer is ok as plain text."""
    incoming = await read(request)
    code = "ok"
    try:
        target = _usable(side, request.path_params["key"])
        _post(side, target, incoming.body)
        target.left -= 1
        answer: Response = PlainTextResponse("ok")
    except SlackError as refusal:
        code = refusal.error
        answer = JSONResponse({"ok": False, "error": code}, max(refusal.status, 400))
    side.world.record(
        "slack", "POST", incoming.path, incoming.body, (answer.status_code, code), BOT
    )
    return answer
