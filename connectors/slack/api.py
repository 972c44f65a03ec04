"""A thin client of the Slack Web API: the calls the product makes with the bot's token.

No call is repeated by itself: Slack has no key against doubles, and a post whose answer was lost
may have been made (SLACK.md §3, SECURITY.md M3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx

from agent.errors import Misconfigured, PlatformRefused, RateLimited, Unavailable
from agent.ports import Clock
from connectors.web import json_object, named_pause, new_client, part, send

_PASSING: Final = frozenset(
    ("fatal_error", "internal_error", "service_unavailable", "request_timeout")
)
_OPERATOR: Final = frozenset(
    (
        "token_expired",
        "token_revoked",
        "invalid_auth",
        "account_inactive",
        "not_authed",
        "missing_scope",
    )
)

Body = dict[str, Any]
"""JSON of the platform; values become ours where they are read."""


class SlackApi:
    """Calls as the bot.

    Every call raises RateLimited (with the pause Slack named), Unavailable (time-out, 5xx, faults
    of Slack), Misconfigured (token or scope) or PlatformRefused, whose reason is Slack's error
    name.

    Args:
        token: the bot token.
        base_url: address of the Web API, ending in /api/.
        clock: time.
        client: another HTTP client than the usual one.
    """

    def __init__(
        self, token: str, base_url: str, clock: Clock, client: httpx.AsyncClient | None = None
    ) -> None:
        self._token = token
        self._clock = clock
        self._client = client or new_client(base_url)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def auth_test(self) -> Body:
        """Who the token belongs to: user_id, team_id, bot_id."""
        return await self._call("auth.test", {})

    async def post(self, channel: str, thread_ts: str, content: Body) -> str:
        """Post a message (`content`: text, blocks, metadata); returns its ts.

        An empty `thread_ts` posts to the channel itself.
        """
        thread = {"thread_ts": thread_ts} if thread_ts else {}
        body = {"channel": channel, **thread, **_QUIET, **content}
        return str((await self._call("chat.postMessage", body)).get("ts", ""))

    async def update(self, channel: str, ts: str, content: Body) -> None:
        """Put another text and blocks into a message of ours."""
        await self._call("chat.update", {"channel": channel, "ts": ts, **content})

    async def post_ephemeral(
        self, channel: str, user: str, thread_ts: str, text: str, blocks: Sequence[Body] = ()
    ) -> None:
        """Show a text (or blocks) to one person alone; `thread_ts` may be empty."""
        body: Body = {"channel": channel, "user": user, "text": text}
        if thread_ts:
            body["thread_ts"] = thread_ts
        if blocks:
            body["blocks"] = [*blocks]
        await self._call("chat.postEphemeral", body)

    async def start_stream(
        self, channel: str, thread_ts: str, team: str, user: str, markdown: str
    ) -> str:
        """Begin a streamed reply; returns its ts."""
        body = {
            "channel": channel,
            "thread_ts": thread_ts,
            "recipient_team_id": team,
            "recipient_user_id": user,
            "markdown_text": markdown,
        }
        return str((await self._call("chat.startStream", body)).get("ts", ""))

    async def append_stream(self, channel: str, ts: str, markdown: str) -> None:
        """Add words to a streamed reply."""
        body = {"channel": channel, "ts": ts, "markdown_text": markdown}
        await self._call("chat.appendStream", body)

    async def stop_stream(self, channel: str, ts: str, content: Body) -> None:
        """End a streamed reply (`content`: markdown_text, blocks; may be empty)."""
        await self._call("chat.stopStream", {"channel": channel, "ts": ts, **content})

    async def react(self, channel: str, ts: str, name: str) -> None:
        """Add a reaction."""
        await self._call("reactions.add", {"channel": channel, "timestamp": ts, "name": name})

    async def set_status(self, channel: str, thread_ts: str, status: str) -> None:
        """Show a line under the thread while the bot works; "" takes it away."""
        body = {"channel_id": channel, "thread_ts": thread_ts, "status": status}
        await self._call("assistant.threads.setStatus", body)

    async def open_direct(self, user: str) -> str:
        """The channel id of the direct chat with a person."""
        answer = await self._call("conversations.open", {"users": user})
        return str(part(answer, "channel").get("id", ""))

    async def replies(self, channel: str, thread_ts: str, oldest: str) -> list[Body]:
        """The messages of a thread from `oldest` on with their metadata, at most 2,000."""
        form = {
            "channel": channel,
            "ts": thread_ts,
            "oldest": oldest,
            "limit": "200",
            "include_all_metadata": "true",
        }
        found: list[Body] = []
        for _ in range(10):
            answer = await self._call("conversations.replies", form, as_form=True)
            found += answer.get("messages") or ()
            after = part(answer, "response_metadata").get("next_cursor")
            if not after:
                break
            form["cursor"] = str(after)
        return found

    async def thread_page(
        self, channel: str, thread_ts: str, cursor: str = "", *, oldest: str = ""
    ) -> tuple[list[Body], str]:
        """A page of a thread, oldest first, and the cursor of the next page ("" at the end)."""
        form = {"channel": channel, "ts": thread_ts, "limit": "200"}
        form |= {"cursor": cursor} if cursor else {}
        form |= {"oldest": oldest} if oldest else {}
        answer = await self._call("conversations.replies", form, as_form=True)
        after = part(answer, "response_metadata").get("next_cursor")
        return list(answer.get("messages") or ()), str(after or "")

    async def message(self, channel: str, ts: str) -> list[Body]:
        """The message of a channel's main flow with this ts, alone; empty when it is gone."""
        form = {"channel": channel, "oldest": ts, "latest": ts, "inclusive": "true", "limit": "1"}
        answer = await self._call("conversations.history", form, as_form=True)
        return list(answer.get("messages") or ())

    async def person_name(self, user: str) -> str:
        """The shown name of a person; "" when the answer has none."""
        found = await self.person(user)
        shown = part(found, "profile").get("display_name")
        return str(shown or found.get("real_name") or found.get("name") or "")

    async def person(self, user: str) -> Body:
        """The user object of a person."""
        return part(await self._call("users.info", {"user": user}, as_form=True), "user")

    async def user_groups(self, team: str) -> list[Body]:
        """All user groups of the workspace with the ids of their members.

        `team` names it for an organisation-wide token, else it is "".
        """
        wanted = {"include_users": "true", **({"team_id": team} if team else {})}
        answer = await self._call("usergroups.list", wanted, as_form=True)
        return list(answer.get("usergroups") or ())

    async def channel(self, channel: str) -> Body:
        """A channel's object, with the number of its members."""
        wanted = {"channel": channel, "include_num_members": "true"}
        return part(await self._call("conversations.info", wanted, as_form=True), "channel")

    async def channel_members(
        self, channel: str, limit: int, cursor: str
    ) -> tuple[list[object], str]:
        """A page of a channel's user ids, bots among them, and the cursor of the next one."""
        form = {"channel": channel, "limit": str(limit)} | ({"cursor": cursor} if cursor else {})
        answer = await self._call("conversations.members", form, as_form=True)
        after = part(answer, "response_metadata").get("next_cursor")
        return list(answer.get("members") or ()), str(after or "")

    async def file_info(self, file: str) -> Body:
        """A file's object."""
        return part(await self._call("files.info", {"file": file}, as_form=True), "file")

    async def _call(self, method: str, body: Body, *, as_form: bool = False) -> Body:
        request = self._client.build_request(
            "POST",
            method,
            json=None if as_form else body,
            data=body if as_form else None,
            headers={"Authorization": f"Bearer {self._token}"},
        )
        label = f"Slack {method}"
        response = await send(self._client, request, label)
        if response.status_code == 429:
            raise self._limited(label, response.headers)
        if response.status_code >= 500:
            raise Unavailable(f"{label}: HTTP {response.status_code}")
        answer = json_object(response, label)
        if answer.get("ok") is True:
            return answer
        name = str(answer.get("error", "unknown"))
        if name in ("ratelimited", "rate_limited"):
            raise self._limited(label, response.headers)
        if name in _PASSING:
            raise Unavailable(f"{label}: {name}")
        if name in _OPERATOR:
            raise Misconfigured(f"{label}: {name}")
        raise PlatformRefused(f"Slack refused {method}: {name}", reason=name)

    def _limited(self, label: str, headers: Mapping[str, str]) -> RateLimited:
        pause = named_pause(headers, ("retry-after",), self._clock.now(), 1.0)
        return RateLimited(f"{label}: too many calls", pause)


_QUIET: Final[Body] = {"unfurl_links": False, "unfurl_media": False}
