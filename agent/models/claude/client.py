"""Claude as a Model: one streamed call of the Messages API, its faults in our words.

Importing the vendor's library takes seconds: import this module only where a Claude model is built.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, cast

import anthropic
import httpx2
from anthropic.lib.bedrock import AsyncAnthropicBedrock

from agent.dialogue import Capability, ModelEvent, ModelRequest
from agent.errors import (
    ContextTooLong,
    Misconfigured,
    ModelFailed,
    PlumblineError,
    RateLimited,
    Unavailable,
)
from agent.models.claude.reply import Reading
from agent.models.claude.request import messages, system, tools
from agent.models.tool_names import ToolNames
from agent.models.wire import mend_text, retry_after, says_too_long

if TYPE_CHECKING:
    from anthropic.types import MessageParam, TextBlockParam, ToolParam

BASE_URL = "https://api.anthropic.com"

_KIND = re.compile(r"[a-z_]{1,64}")
_BUSY = frozenset({"overloaded_error", "api_error", "timeout_error"})
_DENIED = frozenset({"authentication_error", "permission_error"})
_SETTINGS = "ANTHROPIC_API_KEY, PLUMBLINE_MODEL and PLUMBLINE_ANTHROPIC_BASE_URL"


class ClaudeModel:
    """One Claude model behind a client of the official library, which never retries by itself.

    `name` is what the service calls the model, `settings` what an operator checks when it refuses.
    Close with `aclose`.
    """

    def __init__(
        self,
        client: anthropic.AsyncAnthropic | AsyncAnthropicBedrock,
        name: str,
        about: Capability,
        settings: str,
    ) -> None:
        # At level DEBUG the client writes whole request bodies into the log.
        logging.getLogger("anthropic").setLevel(logging.INFO)
        self._client = client
        self._name = mend_text(name)
        self._about = about
        self._settings = settings

    def capability(self) -> Capability:
        """What this model can do."""
        return self._about

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it comes.

        Raises RateLimited, Unavailable, Misconfigured, ContextTooLong or ModelFailed. A refusal of
        the content is a reply that stopped with "refusal", a stream that ended early one that
        stopped with "cut". Error texts name status and kind, never what was sent or got.
        """
        names = ToolNames(t.name for t in request.tools)
        reading = Reading(self._name, names)
        try:
            async with await self._open(request, names) as events:
                async for event in events:
                    for delta in reading.feed(event):
                        yield delta
        except anthropic.APIStatusError as err:
            raise _fault(err, self._settings) from None
        except (anthropic.APITimeoutError, httpx2.TimeoutException):
            raise Unavailable("The model service did not answer in time.") from None
        except (anthropic.APIError, httpx2.HTTPError):
            raise Unavailable("The connection to the model service broke.") from None
        except ValueError:
            raise Unavailable("The model service sent something that is no event.") from None
        yield reading.reply()

    async def _open(
        self, request: ModelRequest, names: ToolNames
    ) -> anthropic.AsyncStream[anthropic.types.RawMessageStreamEvent]:
        prefix = cast("list[TextBlockParam]", system(request.system))
        offered = cast("list[ToolParam]", tools(request.tools, names))
        said = messages(request.messages, names, images=self._about.images)
        return await self._client.messages.create(
            model=self._name,
            max_tokens=request.max_tokens,
            system=prefix or anthropic.omit,
            tools=offered or anthropic.omit,
            tool_choice={"type": "none"} if offered and request.answer_now else anthropic.omit,
            messages=cast("list[MessageParam]", said),
            stream=True,
        )


class AnthropicModel(ClaudeModel):
    """A Claude model of Anthropic's own service.

    `timeout` is the longest silence in seconds: for the connection and between two pieces of a
    stream. `window` is the model's input limit in tokens, `images` whether it takes pictures.
    Raises Misconfigured when the key can not be one.
    """

    def __init__(
        self,
        *,
        api_key: str,
        model: str,
        base_url: str = BASE_URL,
        timeout: float = 60.0,
        window: int = 200_000,
        images: bool = True,
    ) -> None:
        if not api_key or not api_key.isascii() or not api_key.isprintable():
            raise Misconfigured("ANTHROPIC_API_KEY is empty or holds letters that no key has.")
        client = anthropic.AsyncAnthropic(
            api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0
        )
        super().__init__(client, model, Capability(model, True, images, window), _SETTINGS)


def _fault(err: anthropic.APIStatusError, settings: str) -> PlumblineError:
    """Our error for an error status, or for an error event inside a stream that began with 200."""
    status, kind = err.status_code, _kind(err)
    said = f"The model service answered {status} {kind}".rstrip()
    if status == 429 or kind == "rate_limit_error":
        return RateLimited(f"{said}: too many requests.", retry_after(err.response.headers))
    if status >= 500 or status in (408, 424) or kind in _BUSY:
        return Unavailable(f"{said}: it is overloaded or out of order.")
    if status in (401, 403) or kind in _DENIED:
        return Misconfigured(
            f"{said}: the key is wrong or may not use this model. Check {settings}."
        )
    if status == 413 or says_too_long(err.message):
        return ContextTooLong(f"{said}: the request is too long for this model.")
    if status == 200 and not kind:
        return Unavailable(f"{said}: the stream ended with an unknown error.")
    return ModelFailed(f"{said}: it does not take this request.")


def _kind(err: anthropic.APIStatusError) -> str:
    """The error's own name if it looks like one: nothing else of a body may reach a text."""
    kind = err.type
    return kind if isinstance(kind, str) and _KIND.fullmatch(kind) else ""
