"""The table of all Feishu endpoints."""

from starlette.requests import Request
from starlette.responses import Response

from simulator.feishu import (
    cards,
    documents,
    messages,
    minutes,
    people,
    reactions,
    resources,
    search,
    tokens,
)
from simulator.feishu.call import FeishuApi
from simulator.feishu.side import FeishuSide

# Fixed paths come before patterns that would swallow them.
ROUTES = [
    *tokens.ROUTES,
    *search.ROUTES,
    *messages.ROUTES,
    *cards.ROUTES,
    *reactions.ROUTES,
    *resources.ROUTES,
    *people.ROUTES,
    *documents.ROUTES,
    *minutes.ROUTES,
]


async def answer(side: FeishuSide, request: Request) -> Response:
    """Answer one request of the Feishu API."""
    return await FeishuApi(side, ROUTES)(request)
