"""The state of the Feishu workspace and who may call its API."""

import secrets
from dataclasses import dataclass, field
from typing import Any, cast

from simulator.company import Person, seconds
from simulator.feishu.cardshelf import CardShelf
from simulator.feishu.content import text_content
from simulator.state.grants import Grants
from simulator.state.limits import Windows
from simulator.state.workspace import BOT, Chat, Message, Workspace
from simulator.state.world import World

Json = dict[str, Any]
APP_ID = "cli_demo0000000001"
APP_SECRET = "demo-app-secret"  # noqa: S105 - the demo's published secret, worth nothing
ENCRYPT_KEY = "demo-encrypt-key"
VERIFICATION_TOKEN = "demo-verification-token"  # noqa: S105 - as above
TENANT = "tenant_demo"
BOT_OPEN_ID = "ou_demo_bot"
BOT_NAME = "Plumbline"
TOKEN_LIFE_S = 7200
USER_SCOPES = frozenset(
    (
        "search:message",
        "search:docs:read",
        "docx:document:readonly",
        "docs:document.content:read",
        "docs:permission.member:auth",
        "wiki:node:read",
        "im:chat:read",
        "im:chat.members:read",
        "im:message.group_msg:get_as_user",
        "im:message.p2p_msg:get_as_user",
        "minutes:minutes.search:read",
        "minutes:minutes:readonly",
        "minutes:minutes.artifacts:read",
        "minutes:minutes.transcript:export",
    )
)
"""Scopes that a person has to agree to."""
CHAT_LIMIT = 5
SEARCH_LIMIT = 100
"""Searches of messages or minutes in a minute, for app and tenant."""
TEXT_LIMIT = 5
"""Texts of documents in a second, for app and tenant."""
CARD_LIMIT = 10


@dataclass(slots=True)
class CallbackToken:
    """The token of a card callback: valid 30 min, for 2 updates of one message."""

    message_id: str
    made: float
    left: int = 2


@dataclass(slots=True)
class FeishuSide:
    """Chats, messages, cards, tokens and limits of the Feishu half."""

    world: World
    space: Workspace
    shelf: CardShelf = field(default_factory=CardShelf)
    tenant_tokens: dict[str, float] = field(default_factory=dict[str, float])
    grants: Grants = field(default_factory=lambda: Grants(("u-issued-", "ur-issued-")))
    sent: dict[str, tuple[float, str]] = field(default_factory=dict[str, tuple[float, str]])
    callbacks: dict[str, CallbackToken] = field(default_factory=dict[str, CallbackToken])
    chat_limit: Windows = field(default_factory=lambda: Windows(CHAT_LIMIT, 1.0))
    card_limit: Windows = field(default_factory=lambda: Windows(CARD_LIMIT, 1.0))
    search_limit: Windows = field(default_factory=lambda: Windows(SEARCH_LIMIT, 60.0))
    text_limit: Windows = field(default_factory=lambda: Windows(TEXT_LIMIT, 1.0))
    edit_limit: Windows = field(default_factory=lambda: Windows(5, 1.0))

    def new_id(self, prefix: str) -> str:
        """Make an id such as om_ plus 32 hex digits."""
        return f"{prefix}{secrets.token_hex(16)}"

    def issue_tenant_token(self) -> str:
        """Make an app token that lives for two hours."""
        token = f"t-demo-{secrets.token_hex(12)}"
        self.tenant_tokens[token] = self.world.clock.now() + TOKEN_LIFE_S
        return token

    def forget_token(self, token: str) -> None:
        """Make an app token invalid before its time."""
        self.tenant_tokens.pop(token, None)

    def login_of(self, token: str) -> str | None:
        """Return BOT for a live app token, a login for a person's token, else None."""
        now = self.world.clock.now()
        if token in self.tenant_tokens:
            return BOT if self.tenant_tokens[token] > now else None
        if issued := self.grants.live(token, now):
            return issued.login
        login = token.removeprefix("u-demo-")
        known = login != token and self.world.company.person(login) is not None
        return login if known else None

    def open_id(self, login: str) -> str:
        """Return the open_id of a login or of the bot."""
        if login == BOT:
            return BOT_OPEN_ID
        person = self.world.company.person(login)
        return person.open_id if person else f"ou_demo_{login}"

    def person(self, any_id: str) -> Person | None:
        """Return the person behind an open_id, union_id or user_id."""
        return self.world.company.by_id(any_id)

    def topic_of(self, message: Message) -> str:
        """Return the topic id (omt_…) of a root message, opening the topic if there is none."""
        if message.topic is None:
            message.topic = f"omt_{secrets.token_hex(8)}"
        return message.topic

    def seed(self) -> None:
        """Fill the workspace with the company's chats and each person's chat with the bot."""
        for person in self.world.company.people:
            self.space.add_chat(
                Chat(
                    f"oc_demo_p2p_{person.login}",
                    "feishu",
                    "direct",
                    BOT_NAME,
                    BOT_NAME,
                    [person.login],
                )
            )
        for row in self.world.company.chats:
            self._seed_chat(row)

    def _seed_chat(self, row: Json) -> None:
        kind = row["feishu"].get("kind", "group")
        chat = self.space.add_chat(
            Chat(
                row["feishu"]["chat_id"],
                "feishu",
                kind,
                row["name"],
                row["name_zh"],
                list(row["members"]),
                with_bot=kind != "direct",
            )
        )
        made: list[Message] = []
        for item in cast("list[Json]", row["messages"]):
            thread = cast("int | None", item.get("thread"))
            root = None if thread is None else made[thread]
            made.append(self._seed_message(chat, item, root))

    def _seed_message(self, chat: Chat, item: Json, root: Message | None) -> Message:
        message = Message(
            id=self.new_id("om_"),
            chat=chat.id,
            author=item["author"],
            at=seconds(item["at"]),
            text=item["text"],
            content=text_content(item["text"]),
        )
        if root is not None:
            message.thread = message.parent = root.id
            message.topic = self.topic_of(root)
        elif chat.kind == "topic_group":
            self.topic_of(message)
        return self.space.add(message, quiet=True)
