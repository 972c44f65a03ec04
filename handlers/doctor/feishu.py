"""The doctor's questions to Feishu or Lark (FEISHU.md; the marks are the contract's)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from agent.ports import Ids
from connectors.web import part
from handlers.doctor.caller import Answer, Body, Caller
from handlers.doctor.probe import Declined, Differs, NotProbed, Probe
from handlers.settings import Settings

_CONSOLE: Final = "Developer console"
_SCOPE_CODES: Final = (99991672, 99991676, 99991679)
_PROBE_TEXT: Final = (
    "Plumbline doctor: a test message, taken back in a moment. 测试消息，马上撤回。"
)
_STEPS: Final[Mapping[int, str]] = {
    10003: "Check PLUMBLINE_FEISHU_APP_ID.",
    10014: "Check PLUMBLINE_FEISHU_APP_SECRET.",
    99991543: "Check PLUMBLINE_FEISHU_APP_ID and PLUMBLINE_FEISHU_APP_SECRET.",
    99991662: f"{_CONSOLE}: enable the app.",
    99991673: f"{_CONSOLE}: create a version and have it released in the tenant.",
    230002: "Add the bot to the chat that --chat names.",
    230006: f"{_CONSOLE} > Features: switch the bot capability on, then release a version.",
    99991668: "The person's token is too old or not one: get a new one.",
    99991677: "The person's token is too old: get a new one.",
}


class FeishuDoctor:
    """The probes of one app.

    Args:
        settings: The app's settings.
        caller: The HTTP side.
        ids: Fresh ids for uuids.
        chat: The operator's own chat (oc_…), open_id (ou_…) or mail address, "" to write nothing.
        person: A person's token for what needs one, "" for none.
    """

    def __init__(
        self, settings: Settings, caller: Caller, ids: Ids, chat: str = "", person: str = ""
    ) -> None:
        self._settings = settings
        self._caller = caller
        self._ids = ids
        self._chat = chat
        self._person = person
        self._token = ""
        self._sent: list[str] = []
        self._card = ""
        self._sequence = 0

    def probes(self) -> list[Probe]:
        """All questions, in the order they build on each other."""
        return [
            Probe("settings", "2.2", self._settings_are_set, needed=True),
            Probe("tenant token", "7 tenant_access_token [memory: 7,200 s]", self._tenant, True),
            Probe("bot info", "2.4 bot/v3/info layout [memory]", self._bot_info, True),
            Probe("long connection", "2 endpoint for long connections [sdk]", self._line),
            Probe("send", "3 scope im:message:send_as_bot", self._send, True),
            Probe("send once by uuid", "3 uuid [doc]", self._send_again),
            Probe("uuid length", "3 at most 50 characters [memory]", self._long_uuid),
            Probe("read message", "5 scope im:message:readonly", self._read, True),
            Probe("reaction", "3 im:message.reactions:write_only", self._react, True),
            Probe("card create", "4 scope cardkit:card:write", self._create, True),
            Probe("card send", "4 step 2", self._reply_card, True),
            Probe("card sent once", "4 a card may be sent once [memory]", self._card_twice),
            Probe("card stream", "4 step 3", self._stream, True),
            Probe("card sequence", "4 an old number gives 300317 [doc*]", self._old_sequence),
            Probe("card finish", "4 step 4", self._finish, True),
            Probe("card elements", "4 behaviors, collapsible_panel [memory]", self._whole, True),
            Probe("element id length", "4 at most 20 characters [memory]", self._long_element),
            Probe("tables in a card", "4 3 to 5 tables, 230099 / 11310 [doc*]", self._tables),
            *self._persons_probes(),
            Probe("clean up", "3 DELETE", self._clean_up),
        ]

    def _persons_probes(self) -> list[Probe]:
        def probe(name: str, settles: str, method: str, path: str, body: Body | None) -> Probe:
            async def run() -> str:
                return await self._as_person(name, method, path, body)

            return Probe(name, settles, run)

        both: Body = {"query": "a", "doc_filter": {}, "wiki_filter": {}, "page_size": 1}
        me: Body = {"query": "a", "filter": {}}
        return [
            probe("user info", "7 user_info", "GET", "authen/v1/user_info", None),
            probe("message search", "6 search:message", "POST", "im/v1/messages/search", me),
            probe("docs search", "6 search:docs:read", "POST", "search/v2/doc_wiki/search", both),
            probe("minutes search", "6 :search:read", "POST", "minutes/v1/minutes/search", me),
            probe("chats", "6 im:chat:read", "GET", "im/v1/chats", None),
        ]

    # --- the app -------------------------------------------------------------------------------

    async def _settings_are_set(self) -> str:
        known = self._settings
        if not known.feishu_app_id or not known.feishu_app_secret:
            raise Declined(
                "App ID or App Secret is not set.",
                "settings",
                f"{_CONSOLE} > Credentials: set PLUMBLINE_FEISHU_APP_ID and _APP_SECRET.",
            )
        if not known.feishu_encrypt_key or not known.feishu_verification_token:
            return "set; without Encrypt Key and Verification Token only a long connection works"
        return "App ID, App Secret, Encrypt Key and Verification Token are set"

    async def _tenant(self) -> str:
        body = {
            "app_id": self._settings.feishu_app_id,
            "app_secret": self._settings.feishu_app_secret,
        }
        path = "/open-apis/auth/v3/tenant_access_token/internal"
        answer = _good(await self._caller.call("tenant token", "POST", path, "", body))
        self._token = str(answer.get("tenant_access_token", ""))
        expire = answer.get("expire")
        if not self._token or not isinstance(expire, int) or not 0 < expire <= 7200:
            raise Differs(f"the answer holds no token or another life than 7,200 s: {expire!r}")
        return f"the secret is right; the token lives {expire} s"

    async def _bot_info(self) -> str:
        answer = await self._app("bot info", "GET", "bot/v3/info")
        bot = part(answer, "bot")
        if not bot.get("open_id"):
            raise Differs("bot.open_id is not where the contract has it")
        if bot.get("activate_status") not in (None, 2):
            raise Declined(
                "the bot is not active in the tenant",
                "activate_status",
                f"{_CONSOLE}: create a version and have it released in the tenant.",
            )
        return f"bot.open_id is there; PLUMBLINE_FEISHU_BOT_OPEN_ID={bot['open_id']}"

    async def _line(self) -> str:
        body = {
            "AppID": self._settings.feishu_app_id,
            "AppSecret": self._settings.feishu_app_secret,
        }
        name = "long connection"
        answer = await self._caller.call(name, "POST", "/callback/ws/endpoint", "", body)
        given = _good(answer)
        if not str(part(given, "data").get("URL", "")).startswith(("ws://", "wss://")):
            raise Differs("the answer names no websocket address")
        return "an address is given; choose long connection under Events & Callbacks"

    # --- messages ------------------------------------------------------------------------------

    async def _send(self) -> str:
        self._sent.append(await self._send_text(self._uuid()))
        return "a message was sent"

    async def _send_again(self) -> str:
        uuid = self._uuid()
        ids = {await self._send_text(uuid), await self._send_text(uuid)}
        self._sent += ids
        if len(ids) != 1:
            raise Differs("the same uuid made two messages")
        return "the same uuid makes one message"

    async def _long_uuid(self) -> str:
        self._need_chat()
        try:
            self._sent.append(await self._send_text("u" * 51))
        except Declined as refusal:
            return f"51 characters are refused with code {_by_rule(refusal)}"
        raise Differs("51 characters are taken")

    async def _read(self) -> str:
        message = self._need_message()
        answer = await self._app("read message", "GET", f"im/v1/messages/{message}")
        if not part(answer, "data").get("items"):
            raise Differs("data.items is empty")
        return "the message can be read"

    async def _react(self) -> str:
        path = f"im/v1/messages/{self._need_message()}/reactions"
        await self._app("reaction", "POST", path, {"reaction_type": {"emoji_type": "OK"}})
        return "a reaction was added"

    # --- cards ---------------------------------------------------------------------------------

    async def _create(self) -> str:
        body = {"type": "card_json", "data": _text(_card([_markdown("…")], streaming=True))}
        answer = await self._app("card create", "POST", "cardkit/v1/cards", body)
        self._card = str(part(answer, "data").get("card_id", ""))
        return "a card was made"

    async def _reply_card(self) -> str:
        self._sent.append(await self._send_card())
        return "the card was sent"

    async def _card_twice(self) -> str:
        try:
            self._sent.append(await self._send_card())
        except Declined as refusal:
            return f"a second time is refused with code {_by_rule(refusal)}"
        raise Differs("the card could be sent twice")

    async def _stream(self) -> str:
        await self._element("Plumbline")
        await self._element("Plumbline doctor")
        return "text was streamed into the card"

    async def _old_sequence(self) -> str:
        self._need_card()
        self._sequence -= 1
        try:
            await self._element("Plumbline doctor again")
        except Declined as refusal:
            if _by_rule(refusal) != "300317":
                raise Differs(f"an old number gives code {refusal.reason}, not 300317") from refusal
            return "an old number gives code 300317"
        raise Differs("an old sequence number is taken")

    async def _finish(self) -> str:
        settings = _text({"config": {"streaming_mode": False}})
        await self._operate("card finish", "PATCH", "/settings", {"settings": settings})
        return "streaming was switched off"

    async def _whole(self) -> str:
        button = {
            "tag": "button",
            "text": {"tag": "plain_text", "content": "OK"},
            "behaviors": [{"type": "callback", "value": {"probe": "doctor"}}],
        }
        panel = {
            "tag": "collapsible_panel",
            "expanded": False,
            "header": {"title": {"tag": "plain_text", "content": "…"}},
            "elements": [_markdown("inside", "inside")],
        }
        await self._replace([_markdown("Plumbline doctor"), button, panel])
        return "button behaviours and a panel are taken"

    async def _long_element(self) -> str:
        return await self._refused([_markdown("x", "e" * 21)], "an element id of 21 characters")

    async def _tables(self) -> str:
        table = "| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        return await self._refused([_markdown(table * 6)], "a card of six tables")

    async def _refused(self, elements: list[Body], what: str) -> str:
        try:
            await self._replace(elements)
        except Declined as refusal:
            return f"{what} is refused with code {_by_rule(refusal)}"
        raise Differs(f"{what} is taken")

    # --- a person ------------------------------------------------------------------------------

    async def _as_person(self, name: str, method: str, path: str, body: Body | None) -> str:
        if not self._person:
            raise NotProbed("needs a person's token (--user-token-file)")
        token = self._person
        answer = await self._caller.call(name, method, f"/open-apis/{path}", token, body)
        _good(answer)
        return "answers as the person"

    async def _clean_up(self) -> str:
        if not self._sent:
            raise NotProbed("nothing was written")
        sent, self._sent = self._sent, []
        for message in dict.fromkeys(sent):
            await self._app("clean up", "DELETE", f"im/v1/messages/{message}")
        return "the test messages were taken back"

    # --- the wire ------------------------------------------------------------------------------

    def _uuid(self) -> str:
        return self._ids.new()[:50]

    def _need_chat(self) -> str:
        if not self._chat:
            raise NotProbed("writes a message: allow it with --chat (your mail address, or oc_…)")
        return self._chat

    def _need_message(self) -> str:
        self._need_chat()
        if not self._sent:
            raise NotProbed("no message was sent to try it on")
        return self._sent[0]

    def _need_card(self) -> str:
        if not self._card:
            raise NotProbed("no card was made to try it on")
        return self._card

    async def _app(self, name: str, method: str, path: str, body: Body | None = None) -> Body:
        if not self._token:
            raise NotProbed("there is no tenant token")
        return _good(await self._caller.call(name, method, f"/open-apis/{path}", self._token, body))

    async def _send_text(self, uuid: str) -> str:
        return await self._post("send", "text", {"text": _PROBE_TEXT}, uuid)

    async def _send_card(self) -> str:
        content = {"type": "card", "data": {"card_id": self._need_card()}}
        return await self._post("card send", "interactive", content, self._uuid())

    async def _post(self, name: str, kind: str, content: Body, uuid: str) -> str:
        body = {
            "receive_id": self._need_chat(),
            "msg_type": kind,
            "content": _text(content),
            "uuid": uuid,
        }
        path = f"im/v1/messages?receive_id_type={_kind(self._chat)}"
        answer = await self._app(name, "POST", path, body)
        return str(part(answer, "data").get("message_id", ""))

    async def _element(self, content: str) -> None:
        path = "/elements/answer/content"
        await self._operate("card stream", "PUT", path, {"content": content})

    async def _replace(self, elements: list[Body]) -> None:
        card = {"type": "card_json", "data": _text(_card(elements, streaming=False))}
        await self._operate("card elements", "PUT", "", {"card": card})

    async def _operate(self, name: str, method: str, path: str, body: Body) -> None:
        card = self._need_card()
        self._sequence += 1
        full = body | {"sequence": self._sequence, "uuid": self._uuid()}
        await self._app(name, method, f"cardkit/v1/cards/{card}{path}", full)


def _kind(chat: str) -> str:
    """Which kind of address --chat holds."""
    if "@" in chat:
        return "email"
    return "open_id" if chat.startswith("ou_") else "chat_id"


def _text(value: Body) -> str:
    return json.dumps(value, ensure_ascii=False)


def _markdown(content: str, element_id: str = "answer") -> Body:
    return {"tag": "markdown", "element_id": element_id, "content": content}


def _card(elements: list[Body], *, streaming: bool) -> Body:
    config = {"streaming_mode": streaming, "update_multi": True, "summary": {"content": "doctor"}}
    return {"schema": "2.0", "config": config, "body": {"elements": elements}}


def _by_rule(refusal: Declined) -> str:
    """The code of a refusal that was hoped for; one for want of a scope says nothing."""
    if refusal.reason in map(str, _SCOPE_CODES):
        raise refusal
    return refusal.reason


def _good(answer: Answer) -> Body:
    """The body of an answer that is no refusal.

    Raises:
        Declined: the platform said no.
    """
    code = answer.body.get("code", 0 if answer.body else -1)
    if not code and answer.status < 400:
        return answer.body
    if not answer.body:
        raise Declined(
            f"HTTP {answer.status} without JSON",
            str(answer.status),
            "Check PLUMBLINE_FEISHU_BASE_URL: https://open.feishu.cn or https://open.larksuite.com",
        )
    if scopes := _scopes(answer.body):
        raise Declined(
            f"code {code}: the scope {scopes} is missing",
            str(code),
            f"{_CONSOLE} > Permissions & Scopes: add {scopes}, then release a new version.",
        )
    step = _STEPS.get(code, f"Look up code {code} in the platform's error list.")
    raise Declined(f"HTTP {answer.status}, code {code}", str(code), step)


def _scopes(body: Body) -> str:
    """The scopes that a refusal names, "" when it is about something else."""
    if body.get("code") not in _SCOPE_CODES:
        return ""
    violations: list[Body] = part(body, "error").get("permission_violations") or []
    named = [str(one.get("subject")) for one in violations if one.get("subject")]
    return " or ".join(named) or "it needs (the answer names none)"
