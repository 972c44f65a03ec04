"""A Slack Web API in memory: threads, streams with their closing, block limits.

`script` holds answers that are given instead, in order, to calls of the method it is keyed by; an
exception in it stands for a lost answer after the call was done.
"""

import json
import urllib.parse
from typing import Any

import httpx

from connectors.slack.api import SlackApi
from tests.fakes.clock import FakeClock


class FakeSlack:
    """State: messages by ts with text, blocks and stream; all calls with their time."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.calls: list[tuple[str, dict[str, Any], float]] = []
        self.script: dict[str, list[httpx.Response | Exception]] = {}
        self.messages: dict[str, dict[str, Any]] = {}
        self.takes_markdown_blocks = True
        transport = httpx.MockTransport(self.handle)
        client = httpx.AsyncClient(transport=transport, base_url="http://slack.test/api/")
        self.api = SlackApi("xoxb-secret", "http://slack.test/api/", clock, client)

    def named(self, method: str) -> list[dict[str, Any]]:
        return [body for called, body, _ in self.calls if called == method]

    def handle(self, request: httpx.Request) -> httpx.Response:
        method = request.url.path.removeprefix("/api/")
        raw = request.content.decode()
        body: dict[str, Any] = (
            json.loads(raw) if raw.startswith("{") else dict(urllib.parse.parse_qsl(raw))
        )
        self.calls.append((method, body, self.clock.monotonic()))
        scripted = self.script[method].pop(0) if self.script.get(method) else None
        if isinstance(scripted, httpx.Response):
            return scripted
        answer = getattr(self, "_" + method.replace(".", "_"))(body)
        if scripted is not None:
            raise scripted
        done = {"ok": False, "error": answer} if isinstance(answer, str) else {"ok": True, **answer}
        return httpx.Response(200, json=done)

    def _new(self, body: dict[str, Any]) -> str:
        ts = f"{self.clock.now():.0f}.{len(self.messages):06d}"
        self.messages[ts] = {"ts": ts, "text": "", "blocks": [], **body}
        return ts

    def _too_big(self, body: dict[str, Any]) -> str:
        blocks: list[dict[str, Any]] = body.get("blocks") or []
        sizes: list[int] = []
        for block in blocks:
            if block["type"] == "markdown":
                if not self.takes_markdown_blocks or len(block["text"]) > 12_000:
                    return "invalid_blocks"
                sizes.append(len(block["text"]))
            else:
                sizes.append(len(_text(block)))
                if sizes[-1] > 3_000:
                    return "invalid_blocks"
        return "msg_blocks_too_long" if sum(sizes) > 13_200 or len(blocks) > 50 else ""

    def _reactions_add(self, body: dict[str, Any]) -> dict[str, Any] | str:
        return {}

    def _assistant_threads_setStatus(self, body: dict[str, Any]) -> dict[str, Any] | str:
        return {}

    def _chat_postEphemeral(self, body: dict[str, Any]) -> dict[str, Any] | str:
        return self._too_big(body) or {}

    def _conversations_open(self, body: dict[str, Any]) -> dict[str, Any] | str:
        return {"channel": {"id": f"D{body['users']}"}}

    def _chat_postMessage(self, body: dict[str, Any]) -> dict[str, Any] | str:
        return self._too_big(body) or {"ts": self._new(body)}

    def _chat_update(self, body: dict[str, Any]) -> dict[str, Any] | str:
        message = self.messages.get(body["ts"])
        if message is None:
            return "message_not_found"
        if error := self._too_big(body):
            return error
        message |= {"text": body["text"], "blocks": body["blocks"]}
        return {}

    def _chat_startStream(self, body: dict[str, Any]) -> dict[str, Any] | str:
        ts = self._new({"text": body["markdown_text"], "thread_ts": body["thread_ts"]})
        self.messages[ts] |= {"streaming": True, "opened": self.clock.now()}
        return {"ts": ts}

    def _stream(self, body: dict[str, Any]) -> dict[str, Any] | None:
        message = self.messages[body["ts"]]
        if not message.get("streaming") or self.clock.now() - message["opened"] > 300:
            return None
        message["text"] += body.get("markdown_text", "")
        return message

    def _chat_appendStream(self, body: dict[str, Any]) -> dict[str, Any] | str:
        return "message_not_in_streaming_state" if self._stream(body) is None else {}

    def _chat_stopStream(self, body: dict[str, Any]) -> dict[str, Any] | str:
        message = self._stream(body)
        if message is None:
            return "message_not_in_streaming_state"
        message |= {"streaming": False, "blocks": body.get("blocks", [])}
        return {}

    def _conversations_replies(self, body: dict[str, Any]) -> dict[str, Any] | str:
        first, size = int(body.get("cursor", 0)), int(body["limit"])
        after = first + size if first + size < len(self.messages) else ""
        page = list(self.messages.values())[first : first + size]
        return {"messages": page, "response_metadata": {"next_cursor": str(after)}}


def words_of(message: dict[str, Any]) -> str:
    """What a person reads of a message."""
    texts = [text for b in message["blocks"] if (text := _text(b))]
    if message.get("streaming") is False and not any(
        b["type"] == "markdown" for b in message["blocks"]
    ):
        texts.insert(0, message["text"])
    return "\n".join(texts) or message["text"]


def _text(block: dict[str, Any]) -> str:
    """The words of a block; buttons have none."""
    text = block.get("text", "")
    return text if isinstance(text, str) else str(text["text"])
