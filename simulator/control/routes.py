"""The /sim routes: what the page and the tests read and do."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from simulator.control import consents, presses, speech, switches, trouble
from simulator.control.sim import ControlError, Sim, view
from simulator.feishu import side as feishu_side
from simulator.slack import side as slack_side
from simulator.state.feed import Subscriber

Json = dict[str, Any]
HEARTBEAT_S = 10.0


class Control:
    """Handlers of the control API."""

    def __init__(self, sim: Sim) -> None:
        self._sim = sim

    async def people(self, _request: Request) -> Response:
        """GET /sim/people."""
        rows = [
            {
                "login": person.login,
                "name": person.name,
                "name_zh": person.name_zh,
                "title": person.title,
                "title_zh": person.title_zh,
                "language": person.language,
                "avatar_color": person.avatar_color,
                "feishu": person.open_id,
                "slack": person.slack_id,
            }
            for person in self._sim.world.company.people
        ]
        return JSONResponse(rows)

    async def chats(self, request: Request) -> Response:
        """GET /sim/chats."""
        login = _login(self._sim, request)
        space = self._sim.space(request.query_params.get("platform", ""))
        rows: list[Json] = []
        for chat in space.chats_of(login):
            read_at = chat.read_at.get(login)
            unread = [
                message
                for message in space.flow(chat.id, reader=login)
                if read_at is not None and message.at > read_at and message.author != login
            ]
            chat.read_at.setdefault(login, self._sim.world.clock.now())
            rows.append(
                {
                    "id": chat.id,
                    "kind": chat.kind,
                    "name": chat.name,
                    "name_zh": chat.name_zh,
                    "members": chat.members,
                    "with_bot": chat.with_bot,
                    "unread": len(unread),
                }
            )
        return JSONResponse(rows)

    async def messages(self, request: Request) -> Response:
        """GET /sim/messages: all of a chat, replies in threads too; with thread only that one."""
        login = _login(self._sim, request)
        query = request.query_params
        platform = query.get("platform", "")
        _, chat = speech.chat_of(self._sim, platform, login, query.get("chat", ""))
        space = self._sim.space(platform)
        chat.read_at[login] = self._sim.world.clock.now()
        trouble.close_overdue(self._sim)
        flow = space.flow(chat.id, reader=login, thread=query.get("thread") or None)
        return JSONResponse([view(self._sim.world, space, message) for message in flow])

    async def say(self, request: Request) -> Response:
        """POST /sim/say."""
        return JSONResponse(speech.say(self._sim, await _body(request)))

    async def edit(self, request: Request) -> Response:
        """POST /sim/edit."""
        return JSONResponse(trouble.edit(self._sim, await _body(request)))

    async def recall(self, request: Request) -> Response:
        """POST /sim/recall."""
        return JSONResponse(trouble.recall(self._sim, await _body(request)))

    async def forward(self, request: Request) -> Response:
        """POST /sim/forward."""
        return JSONResponse(trouble.forward(self._sim, await _body(request)))

    async def react(self, request: Request) -> Response:
        """POST /sim/react."""
        return JSONResponse(trouble.react(self._sim, await _body(request)))

    async def enter(self, request: Request) -> Response:
        """POST /sim/enter: a person opens the direct chat with the bot."""
        return JSONResponse(trouble.enter(self._sim, await _body(request)))

    async def press(self, request: Request) -> Response:
        """POST /sim/press."""
        return JSONResponse(await presses.press(self._sim, await _body(request)))

    async def command(self, request: Request) -> Response:
        """POST /sim/command."""
        return JSONResponse(await presses.command(self._sim, await _body(request)))

    async def faults(self, request: Request) -> Response:
        """GET, POST and DELETE /sim/faults; DELETE takes ?id= for one switch."""
        if request.method == "POST":
            return JSONResponse(switches.turn_on(self._sim, await _body(request)))
        if request.method == "DELETE":
            return JSONResponse(switches.turn_off(self._sim, request.query_params.get("id", "")))
        return JSONResponse([fault.shown() for fault in self._sim.world.faults.faults])

    async def revoke(self, request: Request) -> Response:
        """POST /sim/revoke: a person takes a consent back at the platform."""
        return JSONResponse(consents.revoke(self._sim, await _body(request)))

    async def uninstall(self, request: Request) -> Response:
        """POST /sim/uninstall: the app is removed from the workspace."""
        return JSONResponse(consents.uninstall(self._sim, await _body(request)))

    async def disconnect(self, request: Request) -> Response:
        """POST /sim/disconnect {platform}: end its long connections."""
        platform = str((await _body(request)).get("platform"))
        self._sim.space(platform)
        return JSONResponse({"closed": await self._sim.courier.lines[platform].hang_up()})

    async def calls(self, request: Request) -> Response:
        """GET /sim/calls."""
        since = request.query_params.get("since", "0")
        rows = self._sim.world.records.calls_since(int(since) if since.isdigit() else 0)
        return JSONResponse(rows)

    async def deliveries(self, _request: Request) -> Response:
        """GET /sim/deliveries."""
        return JSONResponse(
            [
                {
                    "event_id": record.event_id,
                    "url": record.url,
                    "status": record.status,
                    "tries": record.tries,
                    "answers": record.answers,
                    "body_kind": record.body_kind,
                }
                for record in self._sim.world.records.deliveries
            ]
        )

    async def config(self, _request: Request) -> Response:
        """GET /sim/config."""
        return JSONResponse(
            {
                "bot": self._sim.world.bot,
                "lines": {name: line.open for name, line in self._sim.courier.lines.items()},
                "feishu": {
                    "app_id": feishu_side.APP_ID,
                    "bot_open_id": feishu_side.BOT_OPEN_ID,
                    "tenant": feishu_side.TENANT,
                },
                "slack": {
                    "team": slack_side.TEAM,
                    "app": slack_side.APP,
                    "bot_user": slack_side.BOT_USER,
                },
            }
        )

    async def reset(self, _request: Request) -> Response:
        """POST /sim/reset."""
        await self._sim.reset()
        return JSONResponse({})

    async def clock(self, request: Request) -> Response:
        """GET and POST /sim/clock."""
        if request.method == "POST":
            seconds = (await _body(request)).get("advance")
            if not isinstance(seconds, int | float) or seconds < 0:
                raise ControlError("advance is a number of seconds, not negative")
            self._sim.world.clock.advance(float(seconds))
            trouble.close_overdue(self._sim)
        return JSONResponse({"now": self._sim.world.clock.now()})

    async def file(self, request: Request) -> Response:
        """GET /sim/files/KEY: a picture for the page."""
        file = self._sim.world.files.get(request.path_params["key"])
        if file is None:
            return JSONResponse({"error": "no such file"}, 404)
        return Response(file.data, media_type=file.media_type)

    async def stream(self, request: Request) -> Response:
        """GET /sim/stream."""
        login = _login(self._sim, request)
        platform = request.query_params.get("platform", "")
        self._sim.space(platform)
        subscriber = self._sim.world.feed.join(platform, login)
        return StreamingResponse(
            self._news(subscriber),
            media_type="text/event-stream",
            headers={"X-Accel-Buffering": "no"},
        )

    async def _news(self, subscriber: Subscriber) -> AsyncIterator[str]:
        people = [person.login for person in self._sim.world.company.people]
        try:
            yield f"event: presence\ndata: {json.dumps({'online': people})}\n\n"
            while True:
                try:
                    event, data = await asyncio.wait_for(subscriber.queue.get(), HEARTBEAT_S)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                yield f"event: {event}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
        finally:
            self._sim.world.feed.leave(subscriber)

    def routes(self) -> list[Route]:
        """Return the routes of the control API."""
        gets = [
            "people",
            "chats",
            "messages",
            "calls",
            "deliveries",
            "config",
            "stream",
        ]
        posts = ["say", "edit", "recall", "forward", "react", "enter", "press", "command", "reset"]
        posts += ["disconnect", "revoke", "uninstall"]
        return [
            *(
                Route(f"/sim/{name}", _polite(getattr(self, name)), methods=["GET"])
                for name in gets
            ),
            *(
                Route(f"/sim/{name}", _polite(getattr(self, name)), methods=["POST"])
                for name in posts
            ),
            Route("/sim/faults", _polite(self.faults), methods=["GET", "POST", "DELETE"]),
            Route("/sim/clock", _polite(self.clock), methods=["GET", "POST"]),
            Route("/sim/files/{key}", _polite(self.file), methods=["GET"]),
        ]


Endpoint = Callable[[Request], Awaitable[Response]]


def _polite(endpoint: Endpoint) -> Endpoint:
    """Answer nonsense with 400 and a sentence."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ControlError as nonsense:
            return JSONResponse({"error": str(nonsense)}, 400)

    return answer


def _login(sim: Sim, request: Request) -> str:
    login = request.query_params.get("as", "")
    if sim.world.company.person(login) is None:
        raise ControlError(f"as: nobody here is called {login!r}")
    return login


async def _body(request: Request) -> Json:
    raw = await request.body()
    try:
        body: object = json.loads(raw or b"{}")
    except ValueError as broken:
        raise ControlError("the body is no JSON") from broken
    if not isinstance(body, dict):
        raise ControlError("the body is no JSON object")
    return body  # pyright: ignore[reportUnknownVariableType] - keys of JSON objects are strings
