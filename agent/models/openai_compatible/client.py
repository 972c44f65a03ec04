"""A model behind a chat completions address: one streamed call, its faults in our words."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import httpx

from agent.dialogue import Capability, ModelEvent, ModelReply, ModelRequest, ToolCall
from agent.domain import Json
from agent.errors import Misconfigured, Unavailable
from agent.models.openai_compatible.faults import fault, message_of, no_api, parsed
from agent.models.openai_compatible.reply import Reading
from agent.models.openai_compatible.request import body
from agent.models.openai_compatible.sse import data_of
from agent.models.tool_names import ToolNames
from agent.models.wire import says_too_long
from agent.ports import Model

_DONE = "[DONE]"
_UNWELCOME = re.compile(
    r"un(?:known|supported|recogni[sz]ed|expected)|not (?:supported|permitted|allowed)|extra",
    re.IGNORECASE,
)
_REFUSED = (400, 422)
_LIMIT = "max_tokens"
_OPTIONAL = ("stream_options", "tool_choice", _LIMIT)
_NEWER_LIMIT = "max_completion_tokens"


class OpenAICompatibleModel:
    """One model of a chat completions server.

    `base_url` is the address that `/chat/completions` is added to. An empty key is sent as none,
    for a server of one's own. `timeout` is the longest silence in seconds: for the connection and
    between two pieces of a stream. Nothing is tried again here, except once without a field that
    the server said it does not know, and except that `light` (None: this model itself) is asked
    for a call's arguments that are no JSON. Close with `aclose`. Raises Misconfigured when address
    or key can not be one.
    """

    def __init__(
        self,
        *,
        base_url: str,
        about: Capability,
        api_key: str = "",
        timeout: float = 60.0,
        light: Model | None = None,
    ) -> None:
        if not re.match(r"https?://[^/\s]+", base_url):
            raise Misconfigured(
                "PLUMBLINE_OPENAI_BASE_URL has to be an address such as https://models.example/v1."
            )
        if not api_key.isascii() or (api_key and not api_key.isprintable()):
            raise Misconfigured("PLUMBLINE_OPENAI_API_KEY holds letters that no key has.")
        self._about = about
        self._light: Model = light or self
        self._left_out: set[str] = set()
        self._address = base_url.rstrip("/") + "/chat/completions"
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout)

    def capability(self) -> Capability:
        """What this model can do."""
        return self._about

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it comes.

        Raises RateLimited, Unavailable, Misconfigured, ModelRefused, ContextTooLong or ModelFailed.
        A filter that stopped the reply is a reply that stopped with "refusal", a stream that ended
        early one that stopped with "cut". Error texts name status and code, never what was sent or
        got.
        """
        names = ToolNames(t.name for t in request.tools)
        reading = Reading(request, self._about.name, names)
        try:
            async with (
                self._answer(body(request, self._about, names)) as response,
                aclosing(_pieces(response)) as pieces,
            ):
                async for piece in pieces:
                    if piece.get("error"):
                        raise fault(response.status_code, response.headers, piece)
                    for delta in reading.feed(piece):
                        yield delta
        except httpx.TimeoutException:
            raise Unavailable("The model server did not answer in time.") from None
        except httpx.HTTPError:
            raise Unavailable("The connection to the model server broke.") from None
        except ValueError:
            raise Unavailable("The model server sent something that is no event.") from None
        reply = reading.reply()
        # A request without tools is one for words, which a stubborn model may answer with a call.
        unread = reading.unread if request.tools else {}
        yield await self._mended(reply, unread) if unread else reply

    async def _mended(self, reply: ModelReply, unread: Mapping[str, str]) -> ModelReply:
        """The reply with the arguments that could be made out."""
        from agent.models.mending import mended_arguments

        blocks = [
            replace(b, arguments=await mended_arguments(unread[b.id], self._light))
            if isinstance(b, ToolCall) and b.id in unread
            else b
            for b in reply.message.blocks
        ]
        return replace(reply, message=replace(reply.message, blocks=tuple(blocks)))

    @asynccontextmanager
    async def _answer(self, wanted: dict[str, Json]) -> AsyncGenerator[httpx.Response]:
        """The beginning of an answer whose status is good."""
        while True:
            adapted = self._adapted(wanted)
            async with self._client.stream("POST", self._address, json=adapted) as response:
                if response.is_success:
                    yield response
                    return
                said = parsed(await response.aread())
            if not self._learns(response.status_code, message_of(said)):
                raise fault(response.status_code, response.headers, said)

    def _adapted(self, wanted: dict[str, Json]) -> dict[str, Json]:
        """The request without what this server does not know."""
        adapted = {k: v for k, v in wanted.items() if k not in self._left_out}
        if _LIMIT in self._left_out:
            adapted[_NEWER_LIMIT] = wanted[_LIMIT]
        return adapted

    def _learns(self, status: int, message: str) -> bool:
        """Whether the refusal is about one more field that can be left out from now on."""
        if status not in _REFUSED or says_too_long(message) or not _UNWELCOME.search(message):
            return False
        new = next((f for f in _OPTIONAL if f in message and f not in self._left_out), None)
        if new is None:
            return False
        self._left_out.add(new)
        return True


async def _pieces(response: httpx.Response) -> AsyncGenerator[dict[str, Json]]:
    """The pieces of a stream, or the whole completion of a server that does not stream.

    Raises ValueError for what is no object, Misconfigured for a page.
    """
    kind = response.headers.get("content-type", "")
    if "html" in kind:
        raise no_api()
    if "json" in kind and "stream" not in kind:
        yield _object(await response.aread())
        return
    async for data in data_of(response.aiter_bytes()):
        if data.strip() == _DONE:
            return
        yield _object(data)


def _object(raw: bytes | str) -> dict[str, Json]:
    value = parsed(raw)
    if value is None:
        raise ValueError("no JSON object")
    return value
