"""Questions of the demo company's people, and a turn that already runs."""

from __future__ import annotations

from agent.domain import Attachment, ChatRef, Identity, Mention, Question
from agent.durable import inbox
from agent.durable.records import TurnRecord
from agent.ports import Clock, Table

ALICE = Identity(
    "hengxing", "feishu", "cli_demo0000000001", "tenant_demo", "ou_demo_alice", "Alice"
)
CHAT = ChatRef("oc_demo_alice", "direct", "om_1")


def question(
    message: str = "om_1", at: float = 1_764_547_200.0, text: str = "住宿标准?"
) -> Question:
    """A direct question of Alice's; `message` and `at` tell one from another."""
    chat = ChatRef(CHAT.chat, CHAT.kind, message)
    return Question(ALICE, chat, text, "zh", at)


def full_question() -> Question:
    """A question that uses every field."""
    return Question(
        Identity("hengxing", "slack", "A0", "T0", "U0BOB00001", "Bob", external=True),
        ChatRef("C1", "group", "1764547200.000100", thread="1764547100.000100", topic=True),
        "lone \ud83d, 字 and \U0001f600",
        "en",
        1_764_547_200.0001,
        (Attachment("file", "F1", "a.pdf", "application/pdf", 12, "https://files.example/a"),),
        (Mention("U0CHEN0001", "陈"),),
        "Asia/Shanghai",
        "merge_forward",
        "sticker",
        {"event": "app_mention"},
    )


async def running_turn(table: Table, clock: Clock, fence: int = 1) -> TurnRecord:
    """Alice's question, accepted and begun under `fence`."""
    accepted = await inbox.accept(table, clock, question(), "ev_1")
    record = await inbox.oldest_pending(table, accepted.session)
    assert record is not None
    return await inbox.start(table, clock, record, fence)
