"""The state of the Slack workspace and who may call its API."""

import secrets
from dataclasses import dataclass, field
from typing import Any, cast

from simulator.company import seconds
from simulator.slack.errors import rate_limited
from simulator.state.grants import Grants
from simulator.state.limits import Buckets, Windows
from simulator.state.workspace import BOT, Chat, Message, Workspace
from simulator.state.world import World

Json = dict[str, Any]
TEAM = "T0DEMO0001"
TEAM_NAME = "Hengxing Robotics"
TEAM_DOMAIN = "hengxing-demo"
APP = "A0DEMO0001"
BOT_USER = "U0DEMOBOT"
BOT_ID = "B0DEMOBOT1"
BOT_NAME = "plumbline"
APP_TOKEN = "xapp-demo-app"  # noqa: S105 - the demo's published token, worth nothing
BOT_TOKEN = "xoxb-demo-bot"  # noqa: S105 - the demo's published token, worth nothing
SIGNING_SECRET = "demo-signing-secret"  # noqa: S105 - as above
BOT_SCOPES = (
    "app_mentions:read,chat:write,im:history,im:write,channels:history,channels:read,"
    "groups:history,groups:read,files:read,files:write,commands,reactions:read,reactions:write,"
    "users:read,assistant:write,"
    "search:read.public,canvases:read,usergroups:read"
)
USER_SCOPES = (
    "search:read.public,search:read.private,search:read.im,search:read.mpim,search:read.files,"
    "search:read,channels:history,channels:read,groups:history,im:history,mpim:history,"
    "canvases:read,files:read,users:read"
)
STREAM_LIFE_S = 300.0
# Calls a minute, SLACK.md sections 3 and 5: update is Tier 3, append Tier 4, start, stop and
# search.info Tier 2; search as a large team has it.
TIERS = {
    "chat.update": 50,
    "chat.startStream": 20,
    "chat.stopStream": 20,
    "chat.appendStream": 100,
    "assistant.search.context": 180,
    "assistant.search.info": 20,
}


@dataclass(slots=True)
class ResponseUrl:
    """A response_url: 5 posts within 30 minutes, for one person in one chat."""

    login: str
    chat: str
    made: float
    message_id: str | None = None
    left: int = 5


@dataclass(slots=True)
class SlackSide:
    """Chats, messages, streams, tokens and limits of the Slack half."""

    world: World
    space: Workspace
    last_micros: int = 0
    streams: dict[str, float] = field(default_factory=dict[str, float])
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict[str, ResponseUrl])
    action_tokens: dict[str, tuple[str, float]] = field(
        default_factory=dict[str, tuple[str, float]]
    )
    grants: Grants = field(default_factory=lambda: Grants(("xoxe.xoxp-issued-", "xoxe-1-")))
    pending_uploads: dict[str, Json] = field(default_factory=dict[str, Json])
    statuses: dict[str, str] = field(default_factory=dict[str, str])
    stream_life: float = STREAM_LIFE_S
    titles: dict[str, str] = field(default_factory=dict[str, str])
    prompts: dict[str, Json] = field(default_factory=dict[str, Json])
    post_limit: Buckets = field(default_factory=lambda: Buckets(1.0, 3))
    tiers: dict[str, Windows] = field(
        default_factory=lambda: {name: Windows(most, 60.0) for name, most in TIERS.items()}
    )

    def limit_streams(self, after: float, now: float) -> None:
        """Let streams end `after` seconds from now, later ones that long after their start."""
        self.stream_life = after
        for ts in self.streams:
            self.streams[ts] = now + after

    def new_ts(self) -> str:
        """Make a message time stamp, later than every one made before."""
        self.last_micros = max(int(self.world.clock.now() * 1e6), self.last_micros + 1)
        return f"{self.last_micros // 1_000_000}.{self.last_micros % 1_000_000:06d}"

    def new_id(self, letter: str) -> str:
        """Make an id such as F plus ten characters."""
        return letter + "0" + secrets.token_hex(5).upper()[:9]

    def count(self, method: str, channel: str) -> None:
        """Count a call against its limits.

        Raises:
            SlackError: ratelimited with Retry-After.
        """
        now = self.world.clock.now()
        wait = self.post_limit.take(channel, now) if method == "chat.postMessage" else 0.0
        if method in self.tiers:
            wait = self.tiers[method].take("app", now)
        if wait:
            raise rate_limited(wait)

    def login_of(self, token: str) -> str | None:
        """Return BOT for the bot token, a login for a person's token, else None."""
        if token == BOT_TOKEN:
            return BOT
        if issued := self.grants.live(token, self.world.clock.now()):
            return issued.login
        login = token.removeprefix("xoxp-demo-")
        known = login != token and self.world.company.person(login) is not None
        return login if known else None

    def user_id(self, login: str) -> str:
        """Return the Slack id of a login or of the bot."""
        if login == BOT:
            return BOT_USER
        person = self.world.company.person(login)
        return person.slack_id if person else f"U0{login.upper()}"

    def login_of_user(self, user_id: str) -> str | None:
        """Return the login behind a Slack user id, BOT for the bot's."""
        if user_id == BOT_USER:
            return BOT
        person = self.world.company.by_id(user_id)
        return person.login if person else None

    def channel_type(self, chat: Chat) -> str:
        """Return im, group (private) or channel."""
        if chat.kind == "direct":
            return "im"
        return "group" if chat.private else "channel"

    def seed(self) -> None:
        """Fill the workspace with the company's chats and each person's chat with the bot."""
        for person in self.world.company.people:
            direct = f"D{person.slack_id[1:]}"
            self.space.add_chat(
                Chat(direct, "slack", "direct", "Plumbline", "Plumbline", [person.login])
            )
        for row in self.world.company.chats:
            self._seed_chat(row)

    def _seed_chat(self, row: Json) -> None:
        direct = row["feishu"].get("kind") == "direct" or row["slack"].get("kind") == "direct"
        chat = self.space.add_chat(
            Chat(
                row["slack"]["channel_id"],
                "slack",
                "direct" if direct else "group",
                row["name"],
                row["name_zh"],
                list(row["members"]),
                with_bot=not direct,
                private=bool(row["slack"].get("private")),
            )
        )
        made: list[Message] = []
        for item in cast("list[Json]", row["messages"]):
            thread = cast("int | None", item.get("thread"))
            root = None if thread is None else made[thread]
            made.append(self._seed_message(chat, item, root))

    def _seed_message(self, chat: Chat, item: Json, root: Message | None) -> Message:
        micros = int(seconds(item["at"]) * 1e6) + 100
        while self.space.has(f"{micros // 1_000_000}.{micros % 1_000_000:06d}"):
            micros += 100
        message = Message(
            id=f"{micros // 1_000_000}.{micros % 1_000_000:06d}",
            chat=chat.id,
            author=item["author"],
            at=micros / 1e6,
            text=item["text"],
            thread=root.id if root else None,
        )
        return self.space.add(message, quiet=True)
