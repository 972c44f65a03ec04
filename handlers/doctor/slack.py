"""The doctor's questions to Slack (SLACK.md; the marks are the contract's)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from connectors.web import part
from handlers.doctor.caller import Answer, Body, Caller
from handlers.doctor.probe import Declined, Differs, NotProbed, Probe
from handlers.settings import Settings

SCOPES: Final[Mapping[str, bool]] = {
    "app_mentions:read": True,
    "assistant:write": False,
    "channels:history": False,
    "channels:read": False,
    "chat:write": True,
    "commands": True,
    "files:read": False,
    "groups:history": False,
    "groups:read": False,
    "im:history": True,
    "im:write": False,
    "reactions:read": False,
    "reactions:write": True,
    "search:read.public": False,
    "usergroups:read": False,
    "users:read": True,
}
"""The bot's scopes, and whether the product can not do without."""

_APP: Final = "api.slack.com/apps"
_PROBE_TEXT: Final = "Plumbline doctor: a test message, deleted in a moment. 测试消息，马上删除。"
_WHISPER: Final = "Plumbline doctor: only you see this. 只有你能看到。"
_ESCAPED: Final = "1 &lt; 2 &amp; 3 &gt; 2"
_STEPS: Final[Mapping[str, str]] = {
    "invalid_auth": "Check the token: the bot's begins with xoxb-, the app-level one with xapp-.",
    "not_authed": "Check the token: the bot's begins with xoxb-, the app-level one with xapp-.",
    "account_inactive": f"{_APP} > Install App: install it into the workspace again.",
    "token_revoked": f"{_APP} > Install App: install it into the workspace again.",
    "token_expired": "The token is too old: get a new one.",
    "not_in_channel": "Invite the bot into the channel that --chat names.",
    "channel_not_found": "--chat takes the id of a channel the bot is in, or of its direct chat.",
    "not_allowed_token_type": "A token of another kind is needed here.",
}


class SlackDoctor:
    """The probes of one app in one workspace.

    Args:
        settings: The app's settings.
        caller: The HTTP side.
        chat: The operator's own channel, direct chat or user id, "" to write nothing.
        person: A person's token for what needs one, "" for none.
    """

    def __init__(
        self, settings: Settings, caller: Caller, chat: str = "", person: str = ""
    ) -> None:
        self._settings = settings
        self._caller = caller
        self._chat = chat
        self._person = person
        self._scopes: frozenset[str] | None = None
        self._bot: Body = {}
        self._user = ""
        self._root = ""
        self._stream = ""
        self._posted: list[str] = []

    def probes(self) -> list[Probe]:
        """All questions, in the order they build on each other."""
        return [
            Probe("settings", "2.2", self._settings_are_set, needed=True),
            Probe("bot token", "1 auth.test", self._auth, needed=True),
            *(Probe(f"scope {s}", "6 scopes [memory]", self._granted(s), n) for s, n in _items()),
            Probe("socket mode", "2 apps.connections.open", self._socket),
            Probe("direct chat", "2.4 conversations.open, im:write", self._open_chat),
            Probe("post", "3 chat.postMessage, chat:write", self._post_root, needed=True),
            Probe("escapes", "3 escape only & < > [memory]", self._escapes),
            Probe("thread with metadata", "5 conversations.replies", self._thread, needed=True),
            Probe("edit", "3 chat.update", self._edit, needed=True),
            Probe("reaction", "3 reactions.add, reactions:write", self._react, needed=True),
            Probe("whisper", "3 chat.postEphemeral", self._whisper),
            Probe("status line", "3 assistant.threads.setStatus", self._status),
            Probe("stream start", "3.1 chat.startStream", self._start, needed=True),
            Probe("stream append", "3.1 chat.appendStream", self._append, needed=True),
            Probe("stream stop", "3.1 chat.stopStream", self._stop, needed=True),
            Probe("ended stream", "3.1 message_not_in_streaming_state [doc*]", self._ended),
            Probe("blocks in all", "3 msg_blocks_too_long at 13,200 [doc*]", self._too_long),
            self._persons("classic search", "5 search:read", "search.messages", {"query": "a"}),
            self._persons("search", "5 search:read.*", "assistant.search.context", {"query": "a"}),
            Probe("clean up", "3 chat.delete", self._clean_up),
        ]

    # --- the app -------------------------------------------------------------------------------

    async def _settings_are_set(self) -> str:
        known = self._settings
        if not known.slack_bot_token:
            raise Declined(
                "no bot token is set",
                "settings",
                f"{_APP} > OAuth & Permissions: set PLUMBLINE_SLACK_BOT_TOKEN (xoxb-…).",
            )
        if not known.slack_signing_secret and not known.slack_app_token:
            raise Declined(
                "neither a signing secret nor an app-level token is set",
                "settings",
                f"{_APP} > Basic Information: set PLUMBLINE_SLACK_APP_TOKEN for Socket Mode, or "
                "PLUMBLINE_SLACK_SIGNING_SECRET for events over HTTP.",
            )
        return "the tokens are set"

    async def _auth(self) -> str:
        answer = await self._caller.call(
            "bot token", "POST", "auth.test", self._settings.slack_bot_token, {}
        )
        self._bot = _good(answer)
        granted = answer.headers.get("x-oauth-scopes", "")
        if granted:
            self._scopes = frozenset(scope.strip() for scope in granted.split(","))
        if not self._bot.get("user_id") or not self._bot.get("team_id"):
            raise Differs("user_id or team_id is not where the contract has it")
        bot = self._bot["user_id"]
        return f"the token is right; PLUMBLINE_SLACK_BOT_USER={bot}"

    def _granted(self, scope: str) -> Callable[[], Awaitable[str]]:
        async def run() -> str:
            if self._scopes is None:
                raise NotProbed("Slack did not say which scopes the token has")
            if scope not in self._scopes:
                raise _missing(scope)
            return "granted"

        return run

    async def _socket(self) -> str:
        token = self._settings.slack_app_token
        if not token:
            raise NotProbed("needs PLUMBLINE_SLACK_APP_TOKEN")
        answer = _good(
            await self._caller.call("socket mode", "POST", "apps.connections.open", token, {})
        )
        if not str(answer.get("url", "")).startswith(("ws://", "wss://")):
            raise Differs("the answer names no websocket address")
        return "an address is given"

    # --- messages ------------------------------------------------------------------------------

    async def _open_chat(self) -> str:
        self._in_chat({})
        if self._chat[0] not in "UW":
            return "not needed: --chat names a channel"
        self._user = self._chat
        body = {"users": self._user}
        answer = await self._as_bot("direct chat", "conversations.open", body, as_form=True)
        self._chat = str(part(answer, "channel").get("id", ""))
        return f"--chat is {self._chat}"

    async def _post_root(self) -> str:
        metadata = {"event_type": "plumbline_doctor", "event_payload": {"key": "doctor"}}
        self._root = await self._post("post", {"text": _PROBE_TEXT, "metadata": metadata})
        return "a message was posted"

    async def _escapes(self) -> str:
        content = {"text": _ESCAPED, "thread_ts": self._need_root()}
        answer = await self._as_bot("escapes", "chat.postMessage", self._in_chat(content))
        self._posted.append(str(answer.get("ts", "")))
        if part(answer, "message").get("text") != _ESCAPED:
            raise Differs("the text came back with other escapes")
        return "three escapes are kept as they are"

    async def _thread(self) -> str:
        body = {"channel": self._chat, "ts": self._need_root(), "include_all_metadata": "true"}
        name = "thread with metadata"
        answer = await self._as_bot(name, "conversations.replies", body, as_form=True)
        messages: list[Body] = answer.get("messages") or []
        if not any(part(part(m, "metadata"), "event_payload").get("key") for m in messages):
            raise Differs("the message came back without its metadata")
        return "the message came back with its metadata"

    async def _edit(self) -> str:
        body = {"channel": self._chat, "ts": self._need_root(), "text": _PROBE_TEXT + " ✓"}
        await self._as_bot("edit", "chat.update", body)
        return "the message was edited"

    async def _react(self) -> str:
        body = {"channel": self._chat, "timestamp": self._need_root(), "name": "eyes"}
        await self._as_bot("reaction", "reactions.add", body)
        return "a reaction was added"

    async def _whisper(self) -> str:
        self._need_root()
        user = await self._somebody()
        if not user:
            raise NotProbed("no person has written in the chat")
        body = self._in_chat({"user": user, "text": _WHISPER})
        await self._as_bot("whisper", "chat.postEphemeral", body)
        return "a line for one person alone was shown; it goes away by itself"

    async def _status(self) -> str:
        body = {"channel_id": self._chat, "thread_ts": self._need_root(), "status": "…"}
        await self._as_bot("status line", "assistant.threads.setStatus", body)
        await self._as_bot("status line", "assistant.threads.setStatus", body | {"status": ""})
        return "the line came and went"

    # --- streams -------------------------------------------------------------------------------

    async def _start(self) -> str:
        body = {"thread_ts": self._need_root(), "markdown_text": "Plumb", **await self._reader()}
        answer = await self._as_bot("stream start", "chat.startStream", self._in_chat(body))
        self._stream = str(answer.get("ts", ""))
        self._posted.append(self._stream)
        return "a stream was started"

    async def _reader(self) -> Body:
        """Who reads the stream; Slack asks for it in channels."""
        reader = await self._somebody()
        if not reader and self._chat.startswith("D"):
            return {}
        if not reader:
            raise NotProbed("no person has written in the channel: write something there first")
        return {"recipient_team_id": self._bot.get("team_id"), "recipient_user_id": reader}

    async def _somebody(self) -> str:
        """A person who has written in the chat, "" for none; asks with the scopes the bot has."""
        if not self._user:
            name, body = "somebody in the chat", {"channel": self._chat, "limit": "50"}
            answer = await self._as_bot(name, "conversations.history", body, as_form=True)
            messages: list[Body] = answer.get("messages") or []
            people = [str(m["user"]) for m in messages if m.get("user") and not m.get("bot_id")]
            own = self._bot.get("user_id")
            self._user = next((user for user in people if user != own), "")
        return self._user

    async def _append(self) -> str:
        body = {"ts": self._need_stream(), "markdown_text": "line doctor"}
        await self._as_bot("stream append", "chat.appendStream", self._in_chat(body))
        return "text was added"

    async def _stop(self) -> str:
        body = self._in_chat({"ts": self._need_stream()})
        await self._as_bot("stream stop", "chat.stopStream", body)
        return "the stream was stopped"

    async def _ended(self) -> str:
        body = self._in_chat({"ts": self._need_stream(), "markdown_text": "late"})
        return await self._refused("ended stream", "chat.appendStream", body, "late text")

    async def _too_long(self) -> str:
        section = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3000}}
        body = self._in_chat({"text": "x", "blocks": [section] * 5, "thread_ts": self._need_root()})
        return await self._refused("blocks in all", "chat.postMessage", body, "15,000 characters")

    async def _refused(self, name: str, method: str, body: Body, what: str) -> str:
        wanted = {"chat.appendStream": "message_not_in_streaming_state"}
        try:
            answer = await self._as_bot(name, method, body)
        except Declined as refusal:
            if refusal.reason != wanted.get(method, "msg_blocks_too_long"):
                raise
            return f"{what} refused: {refusal.reason}"
        self._posted.append(str(answer.get("ts", "")))
        raise Differs(f"{what} taken")

    # --- a person ------------------------------------------------------------------------------

    def _persons(self, name: str, settles: str, method: str, body: Body) -> Probe:
        async def run() -> str:
            if not self._person:
                raise NotProbed("needs a person's token (--user-token-file)")
            answer = await self._caller.call(name, "POST", method, self._person, body, as_form=True)
            _good(answer)
            return "answers as the person"

        return Probe(name, settles, run)

    async def _clean_up(self) -> str:
        if not self._posted:
            raise NotProbed("nothing was written")
        posted, self._posted = self._posted, []
        for ts in posted:
            await self._as_bot("clean up", "chat.delete", {"channel": self._chat, "ts": ts})
        return "the test messages were deleted"

    # --- the wire ------------------------------------------------------------------------------

    def _in_chat(self, body: Body) -> Body:
        if not self._chat:
            raise NotProbed("writes a message: allow it with --chat (your user id, or a channel)")
        return {"channel": self._chat, **body}

    def _need_root(self) -> str:
        self._in_chat({})
        if not self._root:
            raise NotProbed("no message was posted to try it on")
        return self._root

    def _need_stream(self) -> str:
        self._in_chat({})
        if not self._stream:
            raise NotProbed("no stream was started to try it on")
        return self._stream

    async def _post(self, name: str, content: Body) -> str:
        answer = await self._as_bot(name, "chat.postMessage", self._in_chat(content))
        ts = str(answer.get("ts", ""))
        self._posted.append(ts)
        return ts

    async def _as_bot(self, name: str, method: str, body: Body, *, as_form: bool = False) -> Body:
        token = self._settings.slack_bot_token
        return _good(await self._caller.call(name, "POST", method, token, body, as_form=as_form))


def _items() -> list[tuple[str, bool]]:
    return sorted(SCOPES.items())


def _missing(scope: str) -> Declined:
    step = f"{_APP} > OAuth & Permissions > Bot Token Scopes: add {scope}, then reinstall the app."
    return Declined(f"the scope {scope} is missing", "missing_scope", step)


def _good(answer: Answer) -> Body:
    """The body of an answer that is no refusal.

    Raises:
        Declined: Slack said no.
    """
    if answer.body.get("ok") is True:
        return answer.body
    if not answer.body:
        raise Declined(
            f"HTTP {answer.status} without JSON",
            str(answer.status),
            "Check PLUMBLINE_SLACK_BASE_URL: https://slack.com/api/",
        )
    error = str(answer.body.get("error", "unknown"))
    if error == "missing_scope":
        raise _missing(str(answer.body.get("needed", "it needs (the answer names none)")))
    raise Declined(
        f"Slack says {error}", error, _STEPS.get(error, f"Look up {error} in Slack's list.")
    )
