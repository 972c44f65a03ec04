"""A connector to own sources that says whose token it calls with, on both platforms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

import httpx

from agent.domain import Passage, Platform, Question
from agent.ports import Tool, ToolResult
from agent.tool import tool
from connectors.access import Access, SearchBudget

_NAMES = {
    "messages": "search_my_messages",
    "docs": "search_my_documents",
    "minutes": "search_my_minutes",
}
SCOPES: Mapping[Platform, Mapping[str, frozenset[str]]] = {
    "feishu": {
        "messages": frozenset(("search:message",)),
        "docs": frozenset(("search:docs:read", "docx:document:readonly")),
        "minutes": frozenset(("minutes:minutes.search:read",)),
    },
    "slack": {
        "messages": frozenset(("search:read.private",)),
        "docs": frozenset(("search:read.files",)),
        "minutes": frozenset(("canvases:read",)),
    },
}


@dataclass(frozen=True, slots=True)
class WhoConnector:
    """Each kind finds one private passage that names the owner of the token."""

    platform: Platform
    origin: str

    def scopes(self) -> Mapping[str, frozenset[str]]:
        return SCOPES[self.platform]

    def open(self, kind: str, question: Question) -> bool:
        return False

    def tools(
        self, access: Access, budget: SearchBudget, question: Question
    ) -> Mapping[str, tuple[Tool, ...]]:
        return {kind: (self._tool(kind, access),) for kind in _NAMES}

    def _tool(self, kind: str, access: Access) -> Tool:
        async def search(
            query: Annotated[str, "Text: what to look for, one sentence."],
        ) -> ToolResult:
            """Search what the person may see."""
            token = await access.token()
            name = await self._owner(token) or await self._owner(await access.renewed(token))
            readers = frozenset((f"person:{self.platform}:{access.asker.user}",))
            text = f"{name} was told: the launch is on 12 May."
            found = Passage(
                f"x-{kind}", f"{kind} of {name}", text, readers=readers, private=True, score=0.9
            )
            return ToolResult(passages=(found,))

        search.__name__ = _NAMES[kind]
        topic = {"zh": f"您的{kind}", "en": f"your {kind}"}
        made = tool(topic=cast("Any", topic), permission=kind, effect="private-read")
        return made(search)

    async def _owner(self, token: str) -> str:
        """Whose token it is; "" when it is refused."""
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=self.origin, trust_env=False) as http:
            if self.platform == "feishu":
                said = await http.get("/open-apis/authen/v1/user_info", headers=headers)
                return str(said.json().get("data", {}).get("open_id", ""))
            said = await http.post("/api/auth.test", headers=headers)
            return str(said.json().get("user_id", ""))
