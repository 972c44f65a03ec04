"""The table of all Feishu endpoints."""

from starlette.requests import Request
from starlette.responses import Response

from simulator.feishu import cards, messages, reactions, tokens
from simulator.feishu.call import FeishuApi
from simulator.feishu.side import FeishuSide

ROUTES = [*tokens.ROUTES, *messages.ROUTES, *cards.ROUTES, *reactions.ROUTES]


async def answer(side: FeishuSide, request: Request) -> Response:
    """Answer one request of the Feishu API."""
    return await FeishuApi(side, ROUTES)(request)
