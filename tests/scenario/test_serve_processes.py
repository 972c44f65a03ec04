"""`plumbline serve` and `plumbline demo` as processes: they answer, stop cleanly, leave nobody."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
import socket
import time
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from agent.domain import Platform
from handlers.cli.workspace import demo_settings, free_port
from handlers.settings import Settings
from tests.fakes import platform_samples as samples
from tests.fakes.command import environment, listening, plumbline
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.sse_server import Played, sse_server
from tests.fakes.stage import Theatre, staged, until


async def test_serve_answers_signed_events_and_nothing_else(tmp_path: Path) -> None:
    port = free_port()
    settings = replace(samples.SAMPLES, home=str(tmp_path / "home"))
    with plumbline("serve", "--port", str(port), env=environment(settings), folder=tmp_path) as bot:
        url = f"http://127.0.0.1:{port}"
        bot.wait_for(f"Plumbline listens on {url}")
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            assert (await http.get("/health")).text == "ok"
            challenge = {"type": "url_verification", "challenge": "c1", "token": "t"}
            good = samples.slack(challenge, at=now())
            wrong = samples.slack(
                challenge, replace(samples.SAMPLES, slack_signing_secret="no"), now()
            )
            for event, status in ((good, 200), (wrong, 401)):
                answer = await http.post(
                    "/slack/events",
                    content=base64.b64decode(event["body"]),
                    headers=event["headers"],
                )
                assert answer.status_code == status
            assert (await http.post("/feishu/events", content=b"{}")).status_code == 401
            assert (await http.get("/slack/events")).status_code == 405
        assert bot.interrupt() == 0
        assert "Traceback" not in bot.said()
        assert not listening(url)


async def test_serve_without_secrets_refuses_everything(tmp_path: Path) -> None:
    port = free_port()
    env = environment(Settings(home=str(tmp_path / "home")))
    with plumbline("serve", "--port", str(port), env=env, folder=tmp_path) as bot:
        bot.wait_for("Plumbline listens on")
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
            for path in ("/slack/events", "/feishu/events"):
                signed = samples.slack({"type": "event_callback"}, Settings(), now())
                body = base64.b64decode(signed["body"])
                answer = await http.post(path, content=body, headers=signed["headers"])
                assert answer.status_code == 401
        assert "PLUMBLINE_SLACK_SIGNING_SECRET" in bot.said()
        os.kill(bot.process.pid, signal.SIGTERM)
        assert bot.process.wait(20) == 0


@pytest.mark.parametrize(
    "arguments", ["serve --port BUSY", "demo --port BUSY", "demo --port FREE --bot-port BUSY"]
)
def test_a_busy_port_is_one_clear_sentence(tmp_path: Path, arguments: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        words = arguments.replace("BUSY", port).replace("FREE", str(free_port())).split()
        env = environment(Settings(home=str(tmp_path / "home")))
        with plumbline(*words, env=env, folder=tmp_path) as bot:
            assert bot.process.wait(30) == 1
            [line] = bot.said().strip().splitlines()
            assert port in line
            assert "choose another port" in line
            assert "(PL-301)" in line
        assert not (tmp_path / "home").exists()


@pytest.mark.slow
def test_demo_prints_its_address_and_leaves_nobody_behind(tmp_path: Path) -> None:
    ports = [str(free_port()), str(free_port())]
    env = environment(Settings(home=str(tmp_path / "home")))
    with plumbline(
        "demo", "--port", ports[0], "--bot-port", ports[1], env=env, folder=tmp_path
    ) as demo:
        page = f"http://127.0.0.1:{ports[0]}"
        said = demo.wait_for(page)
        assert "What is the hotel limit in Shanghai?" in said
        assert "offline" in said
        assert "Plumbline" in httpx.get(page, trust_env=False).text
        children = demo.children()
        assert children
        assert demo.interrupt() == 0
        assert "Traceback" not in demo.said()
        assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]
        assert not listening(page)
        assert not listening(f"http://127.0.0.1:{ports[1]}/health")


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["feishu", "slack"])
async def test_a_killed_server_answers_after_its_restart(
    house: Theatre, platform: Platform, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    async with sse_server([Played("event: ping\ndata: {}\n\n", ending="hang")]) as silent:
        settings = replace(
            demo_settings(Settings(home=str(house.home)), house.origin),
            state=str(state),
            model="claude-invented",
            anthropic_api_key="sk-test-invented",
            anthropic_base_url=silent.address,
        )
        async with httpx.AsyncClient(base_url=house.origin, trust_env=False) as http:
            await http.post("/sim/reset", json={})
            with plumbline(
                "serve", "--port", str(house.port), env=environment(settings), folder=tmp_path
            ) as bot:
                await asyncio.to_thread(bot.wait_for, "Plumbline listens on")
                who = {"platform": platform, "as": "alice"}
                chats = (await http.get("/sim/chats", params=who)).json()
                said = {**who, "chat": chats[0]["id"], "text": "Are you there?"}
                message = (await http.post("/sim/say", json=said)).json()["message"]
                await until(lambda: seen(silent.seen), "the model call", 30)
                os.killpg(bot.process.pid, signal.SIGKILL)
                bot.process.wait()
    model = ScriptedModel(lambda _: "I am back.")
    async with staged(house, platform, state, model, ahead=75.0, reset=False) as stage:
        reply = await stage.reply(stage.known(message, chats[0]["id"]))
        assert reply.answer.status == "answered"
        assert "I am back." in reply.messages[-1]["text"] + str(reply.messages[-1]["blocks"])
        record = await stage.turn(reply.said.turn)
        assert (record["attempt"], record["state"]) == (2, "DONE")


async def seen(requests: object) -> bool:
    """Whether anything was asked."""
    return bool(requests)


def now() -> int:
    """The time that servers in other processes go by."""
    return int(time.time())  # noqa: TID251  the machine's own clock
