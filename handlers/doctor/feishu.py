"""The doctor's questions to Feishu or Lark (FEISHU.md; the marks are the contract's)."""

from __future__ import annotations

import json
from typing import Final

from agent.ports import Ids
from connectors.web import part
from handlers.doctor.caller import Body, Caller
from handlers.doctor.feishu_person import FeishuPerson
from handlers.doctor.feishu_refusals import CONSOLE, by_rule, good
from handlers.doctor.probe import Declined, Differs, NotProbed, Probe
from handlers.settings import Settings

_PROBE_TEXT: Final = (
    "Plumbline doctor: a test message, taken back in a moment. 测试消息，马上撤回。"
)


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
        self._person = FeishuPerson(caller, person)
        self._token = ""
        self._place = ""
        self._somebody = ""
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
            Probe("history", "6 app: im:message.group_msg [doc]", self._history),
            Probe("names", "2.4 contact:user.base:readonly [memory]", self._names),
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
            *self._person.probes(),
            Probe("clean up", "3 DELETE", self._clean_up),
        ]

    # --- the app -------------------------------------------------------------------------------

    async def _settings_are_set(self) -> str:
        known = self._settings
        if not known.feishu_app_id or not known.feishu_app_secret:
            raise Declined(
                "App ID or App Secret is not set.",
                "settings",
                f"{CONSOLE} > Credentials: set PLUMBLINE_FEISHU_APP_ID and _APP_SECRET.",
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
        answer = good(await self._caller.call("tenant token", "POST", path, "", body))
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
                f"{CONSOLE}: create a version and have it released in the tenant.",
            )
        return f"bot.open_id is there; PLUMBLINE_FEISHU_BOT_OPEN_ID={bot['open_id']}"

    async def _line(self) -> str:
        body = {
            "AppID": self._settings.feishu_app_id,
            "AppSecret": self._settings.feishu_app_secret,
        }
        name = "long connection"
        answer = await self._caller.call(name, "POST", "/callback/ws/endpoint", "", body)
        given = good(answer)
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
            return f"51 characters are refused with code {by_rule(refusal)}"
        raise Differs("51 characters are taken")

    async def _read(self) -> str:
        message = self._need_message()
        answer = await self._app("read message", "GET", f"im/v1/messages/{message}")
        if not part(answer, "data").get("items"):
            raise Differs("data.items is empty")
        return "the message can be read"

    async def _history(self) -> str:
        self._need_message()
        path = f"im/v1/messages?container_id_type=chat&container_id={self._place}&page_size=20"
        answer = await self._app("history", "GET", path)
        items: list[Body] = part(answer, "data").get("items") or []
        senders = [part(item, "sender") for item in items]
        people = [str(s.get("id")) for s in senders if s.get("sender_type") == "user"]
        self._somebody = next(iter(people), "")
        return "what was said before can be read"

    async def _names(self) -> str:
        somebody = self._chat if self._chat.startswith("ou_") else self._somebody
        if not somebody:
            raise NotProbed("no person was found to ask for")
        path = f"contact/v3/users/{somebody}?user_id_type=open_id"
        answer = await self._app("names", "GET", path)
        if not part(part(answer, "data"), "user").get("name"):
            raise Differs("user.name is empty: the scope may be granted without its field")
        return "names can be read"

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
            return f"a second time is refused with code {by_rule(refusal)}"
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
            if by_rule(refusal) != "300317":
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
            return f"{what} is refused with code {by_rule(refusal)}"
        raise Differs(f"{what} is taken")

    # --- the end -------------------------------------------------------------------------------

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
        return good(await self._caller.call(name, method, f"/open-apis/{path}", self._token, body))

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
        sent = part(answer, "data")
        self._place = str(sent.get("chat_id", "")) or self._chat
        return str(sent.get("message_id", ""))

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
