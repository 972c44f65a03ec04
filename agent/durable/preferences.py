"""What a person set for themselves: language, model, kinds of sources that stay unsearched."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

from agent.domain import Language, Question
from agent.durable import keys
from agent.durable.records import check_format, new_item, text_of
from agent.ports import Clock, Table
from agent.values import value


@value
class Preferences:
    """A person's choices. Empty: the question's own language, the operator's model.

    `off` are the kinds of sources that are not searched for this person.
    """

    language: Literal["", "zh", "en"] = ""
    model: str = ""
    off: frozenset[str] = frozenset()

    def language_or(self, default: Language) -> Language:
        """The chosen language, `default` without a choice."""
        return self.language or default

    def applied(self, question: Question) -> Question:
        """The question in the language that the person chose."""
        return replace(question, language=self.language) if self.language else question


async def load(table: Table, principal: str) -> Preferences:
    """What the person chose; all defaults when nothing was.

    Raises:
        UnknownFormat: it was written in a format that is not read any more.
    """
    item = await table.get(keys.preferences(principal))
    if item is None:
        return Preferences()
    check_format(item, "preferences")
    language = cast(Literal["", "zh", "en"], text_of(item, "language"))
    off = frozenset(text_of(item, "off").split())
    return Preferences(language, text_of(item, "model"), off)


async def save(table: Table, clock: Clock, org: str, principal: str, chosen: Preferences) -> None:
    """Store what the person chose."""
    key = keys.preferences(principal)
    item = new_item(key, "preferences", org, clock.now(), principal)
    item["language"], item["model"] = chosen.language, chosen.model
    item["off"] = " ".join(sorted(chosen.off))
    await table.put(item)
