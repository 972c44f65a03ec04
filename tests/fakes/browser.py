"""A person at a browser: follows a connect button through the platform's pages, and back."""

from __future__ import annotations

import re
from collections.abc import Collection
from html import unescape

import httpx


async def open_button(address: str) -> httpx.Response:
    """The platform's first page behind a connect button."""
    async with httpx.AsyncClient(trust_env=False, follow_redirects=True) as browser:
        return await browser.get(address)


async def agree(
    page: httpx.Response, login: str, without: Collection[str] = (), *, decline: bool = False
) -> httpx.Response:
    """Sign in as a person, agree to what is ticked, and come back to our own page."""
    async with httpx.AsyncClient(trust_env=False, follow_redirects=True) as browser:
        links = [unescape(link) for link in re.findall(r'href="([^"]+)"', page.text)]
        chosen = next(link for link in links if f"who={login}" in link)
        form = await browser.get(page.url.join(chosen))
        hidden = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form.text)
        boxes = re.findall(r'type="checkbox" name="([^"]+)"', form.text)
        fields = {unescape(name): unescape(value) for name, value in hidden}
        fields |= {box: "on" for box in boxes if box.removeprefix("grant.") not in without}
        fields |= {"no": "1"} if decline else {"as": login}
        return await browser.get(page.url.copy_with(query=None), params=fields)


async def connect(address: str, login: str, without: Collection[str] = ()) -> httpx.Response:
    """Press the button and agree; our own page at the end."""
    return await agree(await open_button(address), login, without)
