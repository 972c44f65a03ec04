"""One OpenSearch address: how it is signed in to, and what its refusals mean."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from opensearchpy import AsyncHttpConnection, AsyncOpenSearch
from opensearchpy.exceptions import ConnectionError as Unreachable
from opensearchpy.exceptions import OpenSearchException, TransportError

from agent.errors import ForPerson, Misconfigured, PlumblineError, RateLimited, Unavailable
from rag.opensearch.target import Target

Body = Mapping[str, Any] | str
Answer = dict[str, Any]

_client_log = logging.getLogger("opensearch")
"""The vendor's: it warns of every 404, also of those that mean that there is no index yet."""

_TIMEOUT = 30
_PAUSE = 1.0
_NDJSON = {"content-type": "application/x-ndjson"}
_NO_INDEX = "index_not_found_exception"
_WHOLE_COUNTS = '{"search_type":"dfs_query_then_fetch"}'
_BLOCKED = "cluster_block_exception"


class IndexRefused(ForPerson):
    """OpenSearch did not take a request or a document, and will not take it later."""

    code = "PL-323"


class Server(Protocol):
    """Requests by method and path, answered with the parsed JSON."""

    async def call(
        self, method: str, path: str, body: Body | None = None, *, missing: bool = False
    ) -> Answer:
        """One request; a string as a body is newline-delimited JSON.

        Args:
            method: The HTTP method.
            path: Path with query.
            body: What is sent, None for nothing.
            missing: Whether a 404 is no error: the answer is {} then.

        Raises:
            Unavailable: no usable answer; it may come later.
            RateLimited: too many requests at once.
            Misconfigured: the address or the rights are wrong.
            IndexRefused: the request is not understood.
        """
        ...

    async def aclose(self) -> None:
        """Let go of all connections; the next call opens them anew."""
        ...


class OpenSearchServer:
    """A Server through the vendor's client; it belongs to the event loop of its first call."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._client: AsyncOpenSearch | None = None

    async def call(
        self, method: str, path: str, body: Body | None = None, *, missing: bool = False
    ) -> Answer:
        """Send one request."""
        if self._client is None:
            _client_log.setLevel(logging.ERROR)
            self._client = AsyncOpenSearch(**client_options(self._target))
        try:
            answer = await self._client.transport.perform_request(
                method, path, body=body, headers=_NDJSON if isinstance(body, str) else None
            )
        except TransportError as error:
            if missing and error.status_code == 404:
                return {}
            raise fault_of(error) from error
        except OpenSearchException as error:
            raise Unavailable(f"OpenSearch gave no usable answer: {error}") from error
        return cast(Answer, answer) if isinstance(answer, dict) else {}

    async def aclose(self) -> None:
        """Close the client."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def client_options(target: Target) -> dict[str, Any]:
    """What the vendor's client is made with.

    Raises:
        Misconfigured: there is no address, or requests have to be signed and nothing says as whom.
    """
    if not target.url.startswith(("http://", "https://")):
        raise Misconfigured("PLUMBLINE_OPENSEARCH_URL has to be an http or https address.")
    options: dict[str, Any] = {
        "hosts": [target.url],
        "connection_class": AsyncHttpConnection,
        "timeout": _TIMEOUT,
        "max_retries": 2,
        "http_compress": True,
    }
    if target.aws:
        options["http_auth"] = _signer(target)
    elif target.user:
        options["http_auth"] = (target.user, target.password)
    return options


def _signer(target: Target) -> object:
    import botocore.session
    from opensearchpy import AWSV4SignerAsyncAuth

    if not target.region:
        raise Misconfigured("Signed requests to OpenSearch need PLUMBLINE_AWS_REGION.")
    session = cast(Any, botocore.session).get_session()
    credentials = session.get_credentials()
    if credentials is None:
        raise Misconfigured("Requests to OpenSearch are to be signed, and no AWS role is at hand.")
    return AWSV4SignerAsyncAuth(credentials, target.region, target.aws)


def fault_of(error: TransportError) -> PlumblineError:
    """What a refused request means for us."""
    if isinstance(error, Unreachable):
        return Unavailable(f"OpenSearch can not be reached: {error.error}")
    status = error.status_code
    return fault(status if isinstance(status, int) else 0, str(error.error), str(error.info))


def fault(status: int, kind: str, reason: str) -> PlumblineError:
    """What a refusal means for us: of a request, or of a part of one."""
    said = f"OpenSearch answered {status} {kind}: {reason[:300]}"
    if status == 429:
        return RateLimited(said, _PAUSE)
    if passing(status, kind):
        return Unavailable(said)
    if status in (401, 403):
        return Misconfigured(
            f"{said}. Check the PLUMBLINE_OPENSEARCH settings and the access policy."
        )
    return IndexRefused(said)


def passing(status: int, kind: str) -> bool:
    """Whether the same may be taken later; a write block ends with the rebuild that set it."""
    return status in (408, 429) or status >= 500 or kind == _BLOCKED


async def parts(
    server: Server, index: str, bodies: Sequence[Mapping[str, Any]]
) -> list[Answer | PlumblineError]:
    """Several searches of one index in one request: what each answers, or why it does not.

    Where there is no index the answers are {}. What could not be answered now is asked once more:
    the index may just have been replaced.

    Raises:
        PlumblineError: as `Server.call`, for the request as a whole.
    """
    lines = (f"{_WHOLE_COUNTS}\n{json.dumps(body)}\n" for body in bodies)
    text = "".join(lines)
    told = await _told(server, index, text)
    if any(isinstance(part, Unavailable) for part in told):
        told = await _told(server, index, text)
    return told


async def _told(server: Server, index: str, text: str) -> list[Answer | PlumblineError]:
    answer = await server.call("POST", f"/{index}/_msearch", text)
    return [_part(told, index) for told in cast("list[Answer]", answer["responses"])]


def taken(part: Answer | PlumblineError) -> Answer:
    """The answer of a part.

    Raises:
        PlumblineError: there is none.
    """
    if isinstance(part, PlumblineError):
        raise part
    return part


def _part(told: Answer, index: str) -> Answer | PlumblineError:
    error = cast("Answer | None", told.get("error"))
    if error is None:
        return told
    if error["type"] == _NO_INDEX:
        if error.get("index") == index:
            return {}
        return Unavailable("the index was replaced during a search")
    causes = cast("list[Answer]", error.get("root_cause") or [error])
    return fault(int(told["status"]), error["type"], str(causes[0].get("reason", "")))
