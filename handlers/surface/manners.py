"""The manners of the bot: commands in messages, buttons under answers (agent/desk.py)."""

from __future__ import annotations

from agent.desk import Desk, Reply
from agent.domain import Answer, Language, Question
from agent.durable.records import TurnRecord
from agent.ports import Control
from handlers.surface import commands, connect, manual, presses, share


class ChatManners:
    """Manners of a bot in a chat; it keeps nothing."""

    def question(self, question: Question) -> Question:
        """What /ask asks."""
        return commands.question_of(question)

    async def obey(self, desk: Desk, record: TurnRecord) -> Reply | None:
        """Run the command in the message, if it is one."""
        command = commands.parse(record.question.text)
        return None if command is None else await commands.run(desk, record, command)

    def buttons(
        self, turn: str, language: Language, answer: Answer, *, private: bool = False
    ) -> tuple[Control, ...]:
        """Sources, opinion, retry, ask a human, share: as far as the answer allows."""
        shown = presses.buttons(turn, language, answer)
        return (share.button(turn, language), *shown) if private and shown else shown

    def unsearched(self, desk: Desk, question: Question, *, refused: bool) -> str:
        """Names what wants a sign-in, and in a refusal what the person switched off."""
        kinds = [kind for kind in desk.house.kinds if kind in desk.preferences.off]
        language, platform = question.language, question.asker.platform
        off = manual.switched_off(language, platform, kinds) if kinds and refused else ""
        return "\n".join(filter(None, (connect.remark(desk, language, platform), off)))
