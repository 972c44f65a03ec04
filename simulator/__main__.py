"""Run the simulator: python -m simulator --port 8085 --bot http://127.0.0.1:8086."""

import argparse
import asyncio
import socket
import sys
from contextlib import suppress
from importlib.util import find_spec

import uvicorn

from simulator.app import build_app


def listen(port: int) -> tuple[socket.socket, str]:
    """Open a loopback port (0 picks a free one); return it with the origin it serves."""
    gate = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    gate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    gate.bind(("127.0.0.1", port))
    gate.listen(128)
    return gate, f"http://127.0.0.1:{gate.getsockname()[1]}"


def make_server(origin: str, bot: str) -> uvicorn.Server:
    """Make the HTTP server; open page streams do not hold up its end.

    Long connections need the package websockets; without it there is HTTP delivery only.
    """
    return uvicorn.Server(
        uvicorn.Config(
            build_app(origin, bot),
            log_level="warning",
            timeout_graceful_shutdown=1,
            ws="websockets-sansio" if find_spec("websockets") else "none",
        )
    )


def main() -> int:
    """Read the arguments and serve until stopped."""
    parser = argparse.ArgumentParser(prog="simulator", description=__doc__)
    parser.add_argument("--port", type=int, default=8085, help="0 picks a free port")
    parser.add_argument("--bot", default="http://127.0.0.1:8086", help="where events are sent")
    given = parser.parse_args()
    gate, origin = listen(given.port)
    with gate:
        sys.stdout.write(f"simulator listening on {origin}\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):  # how uvicorn passes Ctrl-C on after it has ended
            asyncio.run(make_server(origin, given.bot).serve(sockets=[gate]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
