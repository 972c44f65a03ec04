"""The Slack workspaces where our bot is installed: its sealed tokens, and whose each one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from agent.durable import keys
from agent.durable.records import check_format, new_item, text_of
from agent.jsontext import packed, unpacked
from agent.ports import Cipher, Clock, Delete, Put, Table


@dataclass(frozen=True, slots=True)
class Installations:
    """The bot's tokens of all workspaces, and to which organisation each belongs."""

    table: Table
    cipher: Cipher
    clock: Clock
    org: str

    async def keep(self, app: str, tenant: str, token: str, bot_user: str) -> None:
        """Store a workspace's token and map the workspace to the organisation."""
        now = self.clock.now()
        key = keys.app_token("slack", app, tenant)
        item = new_item(key, "app_token", self.org, now)
        plain = packed([token, bot_user])
        item["box"] = await self.cipher.seal(plain.encode(), self._context(app, tenant))
        mapped = new_item(keys.workspace("slack", app, tenant), "workspace", self.org, now)
        await self.table.transact((Put(item), Put(mapped)))

    async def find(self, app: str, tenant: str) -> tuple[str, str] | None:
        """The bot's token and user id in a workspace; None where it is not installed."""
        item = await self.table.get(keys.app_token("slack", app, tenant))
        if item is None:
            return None
        check_format(item, "app_token")
        plain = await self.cipher.open(cast(bytes, item["box"]), self._context(app, tenant))
        token, bot_user = cast("tuple[str, str]", unpacked(plain.decode()))
        return token, bot_user

    async def organisation(self, app: str, tenant: str) -> str:
        """The organisation that a workspace belongs to; "" for a foreign one."""
        item = await self.table.get(keys.workspace("slack", app, tenant))
        return "" if item is None else text_of(item, "org")

    async def forget(self, app: str, tenant: str) -> None:
        """Delete a workspace's token and its mapping."""
        await forget(self.table, app, tenant)

    def _context(self, app: str, tenant: str) -> dict[str, str]:
        return {"org": self.org, "app": app, "tenant": tenant, "purpose": "slack-bot"}


async def forget(table: Table, app: str, tenant: str) -> None:
    """Delete a workspace's token and its mapping; nothing happens where there is none."""
    token, mapped = keys.app_token("slack", app, tenant), keys.workspace("slack", app, tenant)
    await table.transact((Delete(token), Delete(mapped)))
