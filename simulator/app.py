"""Put the simulator together: both platforms, files, control API and chat page on one origin."""

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from simulator.company import load_company
from simulator.control.routes import Control
from simulator.control.sim import Sim, make_sides
from simulator.delivery import Courier
from simulator.faults.answers import Faulty
from simulator.feishu import api as feishu_api
from simulator.lines import feishu_line
from simulator.lines.feishu_line import FeishuLine
from simulator.lines.line import Line
from simulator.lines.slack_line import SlackLine
from simulator.slack import api as slack_api
from simulator.slack.downloads import download
from simulator.slack.identity import authorize
from simulator.slack.responses import respond
from simulator.state.world import World

PAGE = Path(__file__).parent / "page"
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def build_app(origin: str, bot: str) -> Starlette:
    """Make the simulator that listens at origin and delivers events to the bot's address."""
    world = World(load_company(), origin, bot.rstrip("/"))
    client = httpx.AsyncClient(trust_env=False)
    lines: dict[str, Line] = {"feishu": FeishuLine(), "slack": SlackLine()}
    sim = Sim(world, *make_sides(world), Courier(world, client, lines))

    def forget(token: str) -> None:  # a reset puts another side in place
        sim.feishu.forget_token(token)

    feishu_faults = Faulty(world, "feishu", forget)
    slack_faults = Faulty(world, "slack", lambda _token: None)

    async def feishu(request: Request) -> Response:
        return await feishu_faults(request, lambda: feishu_api.answer(sim.feishu, request))

    async def slack(request: Request) -> Response:
        return await slack_faults(request, lambda: slack_api.answer(sim.slack, request))

    async def response_url(request: Request) -> Response:
        return await respond(sim.slack, request)

    async def files(request: Request) -> Response:
        return await slack_faults(request, lambda: download(sim.slack, request))

    async def feishu_line_address(request: Request) -> Response:
        return await feishu_line.endpoint(request, origin)

    async def sign_in(request: Request) -> Response:
        return authorize(sim.slack, request)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None, None]:
        async with client:
            yield
            await world.settle()

    return Starlette(
        routes=[
            Route("/open-apis/{rest:path}", feishu, methods=METHODS),
            Route("/oauth/v2/authorize", sign_in),
            Route("/oauth/{rest:path}", feishu, methods=METHODS),
            Route("/api/{method}", slack, methods=["GET", "POST"]),
            Route(feishu_line.ENDPOINT, feishu_line_address, methods=["POST"]),
            WebSocketRoute(feishu_line.SOCKET, lines["feishu"].serve),
            WebSocketRoute("/slack-line", lines["slack"].serve),
            Route("/slack-response/{key}", response_url, methods=["POST"]),
            Route("/files/{rest:path}", files, methods=["GET", "POST"]),
            *Control(sim).routes(),
            Mount("/", StaticFiles(directory=PAGE, html=True, check_dir=False)),
        ],
        lifespan=lifespan,
    )
