"""The doctor's questions to Feishu that need a person's token: search, documents, minutes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from connectors.web import part
from handlers.doctor.caller import Answer, Body, Caller
from handlers.doctor.feishu_refusals import good
from handlers.doctor.probe import Differs, NotProbed, Probe

_WORDS: Final = ("a", "the", "plan", "report", "的", "会议", "报告")
"""Asked one after the other until something is found."""


class FeishuPerson:
    """What the connectors will ask as a person; only ids of hits are kept from one to the next.

    Args:
        caller: The HTTP side.
        token: The person's token, "" for none.
    """

    def __init__(self, caller: Caller, token: str) -> None:
        self._caller = caller
        self._token = token
        self._me = ""
        self._docx = ""
        self._wiki = ""
        self._minute = ""
        self._titles: list[str] = []

    def probes(self) -> list[Probe]:
        """All questions, in the order they build on each other."""
        return [
            self._probe("user info", "7 user_info", self._user),
            self._probe("chats", "6 im:chat:read", self._chats),
            self._probe("message search", "6 search:message", self._messages),
            self._probe("docs search", "6 search:docs:read", self._docs),
            self._probe("highlights", "6 <h> or <em> in titles [memory]", self._highlights),
            self._probe("document text", "6 docx:document:readonly", self._text),
            self._probe("document markdown", "6 docs:document.content:read [memory]", self._md),
            self._probe("document rights", "6 permission.member:auth [memory]", self._rights),
            self._probe("document metas", "6 drive.metadata:readonly [memory]", self._metas),
            self._probe("wiki node", "6 wiki:node:read [memory]", self._node),
            self._probe("minutes search", "6 minutes:minutes.search:read", self._minutes),
            self._probe("minutes artifacts", "6 minutes.artifacts:read", self._artifacts),
            self._probe("minutes transcript", "6 a file, not JSON", self._transcript),
        ]

    def _probe(self, name: str, settles: str, ask: Callable[[str], Awaitable[str]]) -> Probe:
        async def run() -> str:
            if not self._token:
                raise NotProbed("needs a person's token (--user-token-file)")
            return await ask(name)

        return Probe(name, settles, run)

    async def _user(self, name: str) -> str:
        user = part(await self._get(name, "authen/v1/user_info"), "data")
        self._me = str(user.get("open_id", ""))
        if not self._me or not user.get("tenant_key"):
            raise Differs("open_id or tenant_key is not where the contract has it")
        return "open_id and tenant_key are there"

    async def _chats(self, name: str) -> str:
        await self._get(name, "im/v1/chats")
        return "answers as the person"

    async def _messages(self, name: str) -> str:
        for word in _WORDS:
            body: Body = {"query": word, "filter": {}}
            answer = good(await self._call(name, "POST", "im/v1/messages/search", body))
            if part(answer, "data").get("items"):
                return "messages were found"
        return "answers as the person; nothing was found to look at"

    async def _docs(self, name: str) -> str:
        for word in _WORDS:
            body: Body = {"query": word, "doc_filter": {}, "wiki_filter": {}, "page_size": 20}
            answer = good(await self._call(name, "POST", "search/v2/doc_wiki/search", body))
            units: list[Body] = part(answer, "data").get("res_units") or []
            for unit in units:
                self._titles.append(str(unit.get("title_highlighted", "")))
                self._keep(str(unit.get("entity_type", "")).lower(), part(unit, "result_meta"))
            if self._docx and self._wiki:
                break
        found = [kind for kind, token in (("docx", self._docx), ("wiki", self._wiki)) if token]
        return f"found: {', '.join(found) or 'nothing to look at'}"

    def _keep(self, kind: str, meta: Body) -> None:
        token = str(meta.get("token", ""))
        if kind == "wiki":
            self._wiki = self._wiki or token
        elif str(meta.get("doc_types", "")).lower() == "docx":
            self._docx = self._docx or token

    async def _highlights(self, name: str) -> str:
        del name
        if not self._titles:
            raise NotProbed("nothing was found to look at")
        marks = [mark for mark in ("<h>", "<em>") if any(mark in title for title in self._titles)]
        if not marks and any("<" in title for title in self._titles):
            raise Differs("titles are marked in another way")
        return f"titles are marked with {' and '.join(marks) or 'nothing'}"

    async def _text(self, name: str) -> str:
        path = f"docx/v1/documents/{_need(self._docx, 'document')}/raw_content"
        return _has(await self._get(name, path), "content")

    async def _md(self, name: str) -> str:
        asked = {
            "doc_token": _need(self._docx, "document"),
            "doc_type": "docx",
            "content_type": "markdown",
        }
        return _has(await self._get(name, "docs/v1/content", asked), "content")

    async def _rights(self, name: str) -> str:
        path = f"drive/v1/permissions/{_need(self._docx, 'document')}/members/auth"
        answer = await self._get(name, path, {"type": "docx", "action": "view"})
        if part(answer, "data").get("auth_result") is not True:
            raise Differs("a document that was found may not be read")
        return "what was found may be read"

    async def _metas(self, name: str) -> str:
        asked = {"doc_token": _need(self._docx, "document"), "doc_type": "docx"}
        body = {"request_docs": [asked]}
        answer = good(await self._call(name, "POST", "drive/v1/metas/batch_query", body))
        return _has(answer, "metas")

    async def _node(self, name: str) -> str:
        asked = {"token": _need(self._wiki, "wiki page")}
        answer = await self._get(name, "wiki/v2/spaces/get_node", asked)
        if not part(part(answer, "data"), "node").get("obj_token"):
            raise Differs("node.obj_token is not where the contract has it")
        return "the page leads to its document"

    async def _minutes(self, name: str) -> str:
        for whose in ("participant_ids", "owner_ids"):
            body: Body = {"filter": {whose: [_need(self._me, "person")]}}
            answer = good(await self._call(name, "POST", "minutes/v1/minutes/search", body))
            items: list[Body] = part(answer, "data").get("items") or []
            if items:
                self._minute = str(items[0].get("token", ""))
                return "minutes were found"
        return "answers as the person; nothing was found to look at"

    async def _artifacts(self, name: str) -> str:
        path = f"minutes/v1/minutes/{_need(self._minute, 'minutes')}/artifacts"
        return _has(await self._get(name, path), "summary")

    async def _transcript(self, name: str) -> str:
        path = f"minutes/v1/minutes/{_need(self._minute, 'minutes')}/transcript"
        answer = await self._call(name, "GET", path, query={"file_format": "txt"})
        if answer.body or answer.status >= 400:
            good(answer)
            raise Differs("the transcript came as JSON")
        return f"the transcript is a file ({answer.media_type.partition(';')[0]})"

    # --- the wire ------------------------------------------------------------------------------

    async def _get(self, name: str, path: str, query: Mapping[str, str] | None = None) -> Body:
        return good(await self._call(name, "GET", path, query=query))

    async def _call(
        self,
        name: str,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        full = f"/open-apis/{path}"
        return await self._caller.call(name, method, full, self._token, body, query)


def _need(token: str, what: str) -> str:
    if not token:
        raise NotProbed(f"no {what} was found to try it on")
    return token


def _has(answer: Body, name: str) -> str:
    if name not in part(answer, "data"):
        raise Differs(f"data.{name} is not where the contract has it")
    return f"data.{name} is there"
