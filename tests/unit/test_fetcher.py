"""The guarded fetcher (S6): 60 tricks with addresses, and not one connection inside."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ToolFailed, Unavailable
from connectors.fetcher import LONGEST, AddressRefused, Fetcher, is_public, look_up

PUBLIC = "93.184.216.34"
HEADERS = {"Authorization": "Bearer xoxp-own"}

LITERALS = (
    *("127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1"),
    *("017700000001", "0", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1"),
    *("169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "198.18.0.1"),
    *("224.0.0.1", "240.0.0.1", "255.255.255.255", "[::1]", "[::]", "[::ffff:127.0.0.1]"),
    *("[::ffff:a9fe:a9fe]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]"),
    *("[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1]", "[fe80::1%25eth0]", "[fc00::1]"),
    *("[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[100::1]", "localhost", "localhost."),
    *("metadata.google.internal", "instance-data", "①②⑦.⓪.⓪.①", "127。0。0。1"),
)  # fmt: skip
"""Hosts; each is looked up as what it stands for, if it is looked up at all."""
SHAPES = (
    "http://files.slack.com/x",
    "https://files.slack.com:8443/x",
    "https://files.slack.com:80/x",
    "https://files.slack.com:0/x",
    "https://files.slack.com:99999/x",
    "https://user@files.slack.com/x",
    "https://user:word@files.slack.com/x",
    "https://127.0.0.1\\@files.slack.com/x",
    "https://files.slack.com\\@127.0.0.1/x",
    "https://files.slack.com@127.0.0.1/x",
    "https://files.slack.com#@127.0.0.1/x",
    "https://files.slack.com.evil.example/x",
    "https://evilslack.com/x",
    "https:///x",
    "https://",
    "//127.0.0.1/x",
    "ftp://files.slack.com/x",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_x",
    "data:text/plain,x",
    "javascript:alert(1)",
    "https://files.slack.com\t.evil.example/x",
    "https://files slack.com/x",
    "https://[::1/x",
    "",
)
STANDS_FOR = {
    "127.1": "127.0.0.1",
    "127.0.1": "127.0.0.1",
    "2130706433": "127.0.0.1",
    "0x7f000001": "127.0.0.1",
    "0x7f.0.0.1": "127.0.0.1",
    "0177.0.0.1": "127.0.0.1",
    "017700000001": "127.0.0.1",
    "0": "0.0.0.0",
    "localhost": "127.0.0.1",
    "localhost.": "127.0.0.1",
    "metadata.google.internal": "169.254.169.254",
    "instance-data": "169.254.169.254",
}


@dataclass
class Net:
    """A net that notes which hosts were connected to, and answers from `script`."""

    names: dict[str, list[Sequence[str]]] = field(default_factory=dict[str, list[Sequence[str]]])
    script: list[httpx.Response] = field(default_factory=list[httpx.Response])
    requests: list[httpx.Request] = field(default_factory=list[httpx.Request])
    asked: list[str] = field(default_factory=list[str])

    def fetcher(self, base: str = "https://slack.com/api/", anybody: bool = True) -> Fetcher:
        client = httpx.AsyncClient(base_url=base, transport=httpx.MockTransport(self._answer))
        return Fetcher(client, lambda h: anybody or h.endswith(".slack.com"), 100, self._resolve)

    async def _resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        there = self.names.get(host, [(STANDS_FOR.get(host, host.strip("[]")),)])
        there = [(PUBLIC,)] if "evil" in host else there
        return there.pop(0) if len(there) > 1 else there[0]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self.script.pop(0) if self.script else httpx.Response(200, text="inside")

    @property
    def inside(self) -> list[str]:
        """Hosts that were connected to and are no public address."""
        return [r.url.host for r in self.requests if not is_public(r.url.host)]


@pytest.mark.parametrize("host", LITERALS)
async def test_no_address_of_an_own_net_is_connected_to(host: str) -> None:
    net = Net()
    with pytest.raises((AddressRefused, Unavailable)):
        await net.fetcher().fetch(f"https://{host}/latest/meta-data", HEADERS)
    assert net.requests == []


@pytest.mark.parametrize("url", SHAPES)
async def test_no_odd_address_is_connected_to(url: str) -> None:
    net = Net({"files.slack.com": [(PUBLIC,)]})
    with pytest.raises(AddressRefused):
        await net.fetcher(anybody=False).fetch(url, HEADERS)
    assert net.requests == []


def test_there_are_at_least_sixty_tricks() -> None:
    assert len(LITERALS) + len(SHAPES) >= 60


async def test_a_name_is_looked_up_once_and_that_address_is_connected_to() -> None:
    net = Net({"files.slack.com": [(PUBLIC,), ("127.0.0.1",)]})
    got = await net.fetcher(anybody=False).fetch("https://files.slack.com/a?b=c", HEADERS)
    (request,) = net.requests
    assert (got.data, net.asked) == (b"inside", ["files.slack.com"])
    assert str(request.url) == f"https://{PUBLIC}/a?b=c"
    assert request.headers["host"] == "files.slack.com"
    assert request.extensions["sni_hostname"] == "files.slack.com"


async def test_one_inner_address_among_public_ones_is_enough_to_refuse() -> None:
    net = Net({"files.slack.com": [(PUBLIC, "10.0.0.7")]})
    with pytest.raises(AddressRefused):
        await net.fetcher().fetch("https://files.slack.com/a", HEADERS)
    assert net.requests == []


@pytest.mark.parametrize("host", [*LITERALS, "rebound.slack.com", "evil.example"])
async def test_a_redirect_is_checked_like_any_address(host: str) -> None:
    names: dict[str, list[Sequence[str]]] = {
        "files.slack.com": [(PUBLIC,)],
        "rebound.slack.com": [("169.254.169.254",)],
    }
    net = Net(names, [httpx.Response(302, headers=[(b"location", f"https://{host}/x".encode())])])
    with pytest.raises((AddressRefused, Unavailable)):
        await net.fetcher(anybody=False).fetch("https://files.slack.com/a", HEADERS)
    assert len(net.requests) == 1


@pytest.mark.parametrize("location", ["http://files.slack.com/x", "//127.0.0.1/x", "file:///x"])
async def test_a_redirect_changes_neither_scheme_nor_host(location: str) -> None:
    net = Net({"files.slack.com": [(PUBLIC,)]})
    net.script = [httpx.Response(307, headers={"location": location})]
    with pytest.raises(AddressRefused):
        await net.fetcher(anybody=False).fetch("https://files.slack.com/a", HEADERS)
    assert len(net.requests) == 1


async def test_three_redirects_are_followed_and_a_fourth_is_not() -> None:
    onward = [httpx.Response(302, headers={"location": "/next"}) for _ in range(4)]
    net = Net({"files.slack.com": [(PUBLIC,)]}, onward[:3])
    got = await net.fetcher().fetch("https://files.slack.com/a", HEADERS)
    assert (got.status, len(net.requests)) == (200, 4)
    net = Net({"files.slack.com": [(PUBLIC,)]}, onward)
    with pytest.raises(AddressRefused):
        await net.fetcher().fetch("https://files.slack.com/a", HEADERS)
    assert len(net.requests) == 4


async def test_a_long_answer_is_cut_off() -> None:
    net = Net({"files.slack.com": [(PUBLIC,)]}, [httpx.Response(200, content=b"x" * 101)])
    with pytest.raises(ToolFailed, match="too long"):
        await net.fetcher().fetch("https://files.slack.com/a", HEADERS)


async def test_a_slow_answer_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connectors.fetcher.LONGEST", 0.05)

    async def never(host: str) -> Sequence[str]:
        await asyncio.sleep(LONGEST)
        return ()

    fetcher = Fetcher(Net().fetcher().client, lambda _: True, 10, never)
    with pytest.raises(Unavailable, match="within"):
        await fetcher.fetch("https://files.slack.com/a", HEADERS)


async def test_the_configured_origin_may_stand_on_this_machine_and_nothing_beside_it() -> None:
    """As in the demo; a connection that is really made, and others that are not."""
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfile")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}/api/", trust_env=False
        ) as client:
            fetcher = Fetcher(client, lambda _: True, 100, look_up)
            got = await fetcher.fetch(f"http://127.0.0.1:{port}/files/x", HEADERS)
            assert got.data == b"file"
            for other in (f"http://localhost:{port}/x", f"https://127.0.0.1:{port}/x",
                          f"http://127.1:{port}/x", f"http://[::ffff:127.0.0.1]:{port}/x",
                          f"http://127.0.0.1:{port + 1}/x", "https://127.0.0.1/x"):  # fmt: skip
                with pytest.raises(AddressRefused):
                    await fetcher.fetch(other, HEADERS)
    assert len(heard) == 1


@given(st.ip_addresses(v=4))
def test_an_address_is_as_public_in_every_form_of_it(ip: ipaddress.IPv4Address) -> None:
    assert is_public(f"::ffff:{ip}") == is_public(str(ip))
    assert not is_public(f"64:ff9b::{ip}")
    assert not is_public(f"::{ip}")
    if ip.is_private or ip.is_loopback or ip.is_link_local or ip.is_multicast:
        assert not is_public(str(ip))
