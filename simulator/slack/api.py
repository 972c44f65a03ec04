"""The table of all Web API methods."""

from starlette.requests import Request
from starlette.responses import Response

from simulator.slack import (
    assistant,
    canvases,
    chat,
    conversations,
    files,
    groups,
    identity,
    search,
    streams,
)
from simulator.slack.call import SlackApi
from simulator.slack.side import SlackSide

METHODS = {
    **identity.METHODS,
    **chat.METHODS,
    **streams.METHODS,
    **assistant.METHODS,
    **conversations.METHODS,
    **files.METHODS,
    **groups.METHODS,
    **search.METHODS,
    **canvases.METHODS,
}


async def answer(side: SlackSide, request: Request) -> Response:
    """Answer one request of the Web API."""
    return await SlackApi(side, METHODS)(request)
