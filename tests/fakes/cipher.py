"""A cipher whose boxes can be read by a test, and still open under their own context only."""

from __future__ import annotations

import json
from collections.abc import Mapping

from agent.errors import Misconfigured


class PlainCipher:
    """Seals by writing the context in front."""

    async def seal(self, data: bytes, context: Mapping[str, str]) -> bytes:
        return json.dumps(dict(sorted(context.items()))).encode() + b"\n" + data

    async def open(self, box: bytes, context: Mapping[str, str]) -> bytes:
        head, _, data = box.partition(b"\n")
        if json.loads(head) != dict(context):
            raise Misconfigured("sealed for another context")
        return data
