"""Fetches an address that came from outside: over the public net only, and only so much of it.

An address in a message or a search result is written by others. It may name a machine of our own
network, lead there by a redirect, or have a name that means another machine a moment later. So the
name is looked up once, every address it has must be a public one, and the connection goes to that
very address. The origin that the operator configured is not from outside: the demo's stands on this
machine.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

import httpx

from agent.errors import ToolFailed, Unavailable

MOST_REDIRECTS: Final = 3
LONGEST: Final = 20.0
"""Seconds that a fetch may take, all redirects together."""
_HOST: Final = re.compile(r"(?=.{1,253}\Z)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*")
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_INSIDE: Final = tuple(
    ipaddress.ip_network(net)
    # carrier and benchmark nets, translated and tunnelled IPv4, IPv4 in IPv6, old site-local
    for net in ("100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "192.88.99.0/24", "::/96",
                "64:ff9b::/32", "2002::/16", "2001::/23", "fec0::/10", "100::/64")
)  # fmt: skip

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""The addresses of a host name."""
Trust = Callable[[str], bool]
"""Whether a host may be asked, and given the credentials."""


class AddressRefused(ToolFailed):
    """The address is none that is fetched; nothing was sent to it."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came. `media` is the declared type without its parameters."""

    status: int
    media: str
    data: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches with the client of one tool call.

    Args:
        client: Sends; its base address is the origin that the operator configured.
        trust: Which hosts may be asked beside that origin.
        most: Bytes that are taken at most.
        resolve: Looks a name up.
    """

    client: httpx.AsyncClient
    trust: Trust
    most: int
    resolve: Resolve

    async def fetch(self, url: str, headers: Mapping[str, str]) -> Fetched:
        """The answer at an address, with redirects followed.

        Raises:
            AddressRefused: an address on the way is none that is fetched, or there are too many.
            ToolFailed: the answer is longer than `most`.
            Unavailable: no answer, or none in time.
        """
        try:
            async with asyncio.timeout(LONGEST):
                for _ in range(MOST_REDIRECTS + 1):
                    answer, onward = await self._once(await self._request(url, headers))
                    if not onward:
                        return answer
                    url = urljoin(url, onward)
        except TimeoutError:
            raise Unavailable(f"no answer within {LONGEST:g} s") from None
        except httpx.RequestError as fault:
            raise Unavailable(type(fault).__name__) from None
        raise AddressRefused("the address leads on too often")

    async def _request(self, url: str, headers: Mapping[str, str]) -> httpx.Request:
        parts = _split(url)
        if _origin(parts) == _origin(urlsplit(str(self.client.base_url))):
            return self.client.build_request("GET", url, headers=dict(headers))
        host = parts.hostname or ""
        if _origin(parts) != ("https", host, 443) or not self.trust(host):
            raise AddressRefused("this address is not fetched")
        address = await self._public(host)
        shown = f"[{address}]" if ":" in address else address
        pinned = parts._replace(netloc=shown, fragment="").geturl()
        return self.client.build_request(
            "GET",
            pinned,
            headers={**headers, "Host": host},
            extensions={"sni_hostname": host},
        )

    async def _public(self, host: str) -> str:
        """The address to connect to; every address of the name has to be public."""
        try:
            found = await self.resolve(host)
        except (OSError, UnicodeError):
            raise Unavailable("the host's name is not known") from None
        if not found or not all(map(is_public, found)):
            raise AddressRefused("this address is not fetched")
        return found[0]

    async def _once(self, request: httpx.Request) -> tuple[Fetched, str]:
        """One answer, and where it leads on to ("" for nowhere)."""
        response = await self.client.send(request, stream=True, follow_redirects=False)
        try:
            if response.status_code in _REDIRECTS and (to := response.headers.get("location")):
                return Fetched(response.status_code, "", b"", {}), to
            data = bytearray()
            async for piece in response.aiter_bytes():
                data += piece
                if len(data) > self.most:
                    raise ToolFailed("the answer is too long")
        finally:
            await response.aclose()
        media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Fetched(response.status_code, media, bytes(data), response.headers), ""


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public net; anything else in words is none."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped
    inside = any(ip.version == net.version and ip in net for net in _INSIDE)
    odd = ip.is_multicast or ip.is_reserved or ip.is_unspecified
    return ip.is_global and not inside and not odd


async def look_up(host: str) -> Sequence[str]:
    """The addresses that the system knows of a host."""
    found = await asyncio.get_running_loop().getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def _split(url: str) -> SplitResult:
    """The parts of an address that means the same to everybody who reads it.

    Raises:
        AddressRefused: it holds what parsers read in different ways, or a name and password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused("this is no address") from None
    host = parts.hostname or ""
    odd = any(c in "\\@" or c.isspace() or not c.isprintable() for c in url.partition("?")[0])
    if odd or "@" in parts.netloc or not (_HOST.fullmatch(host) or _is_ipv6(host)) or port == 0:
        raise AddressRefused("this is no address that is fetched")
    return parts


def _is_ipv6(host: str) -> bool:
    try:
        return "%" not in host and ipaddress.ip_address(host).version == 6
    except ValueError:
        return False


def _origin(parts: SplitResult) -> tuple[str, str, int]:
    return (
        parts.scheme,
        parts.hostname or "",
        parts.port or (443 if parts.scheme == "https" else 80),
    )
