"""The number that grows with every change of rights: what caches rights is keyed by it."""

from __future__ import annotations

from agent.durable import keys
from agent.durable.records import number_of
from agent.ports import Change, Table


async def version(table: Table, org: str) -> int:
    """The number as it is now; 0 before anything was changed."""
    return number_of(await table.get(keys.acl_version(org)) or {}, "version")


async def changed(table: Table, org: str) -> int:
    """Note a change: whatever was cached before is not looked at again; the new number."""
    change = Change(set={"k": "rights", "v": 1, "org": org, "cls": "kb"}, add={"version": 1})
    return number_of(await table.update_if(keys.acl_version(org), change), "version")
