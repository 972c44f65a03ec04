"""Card entities with the platform's rules: rising sequence, streaming life, sizes and tables."""

import json
import re
import secrets
from dataclasses import dataclass, field
from typing import Any, cast

from simulator.feishu.errors import FeishuError, bad_field, card_refused

Json = dict[str, Any]
STREAM_LIFE_S = 600.0
ENTITY_LIFE_S = 14 * 86400.0
CARD_BYTES = 30 * 1024
MOST_ELEMENTS = 200
MOST_TABLES = 5
UUID_LIFE_S = 3600.0
INT32 = 2**31 - 1
_ELEMENT_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,19}")
_DELIMITER = re.compile(r"^\s*\|?(\s*:?-+:?\s*\|)+\s*(:?-+:?)?\s*\|?\s*$")


def count_tables(markdown: str) -> int:
    """Count the tables of a markdown text; what stands in code fences does not count."""
    tables, fence, above = 0, "", ""
    for line in markdown.split("\n"):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark.group(1)
        elif mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence and "|" in above and "|" in line and _DELIMITER.match(line):
            tables += 1
        above = "" if fence else line
    return tables


def walk(value: object) -> list[Json]:
    """Return all tagged nodes below a value in reading order."""
    nodes: list[Json] = []
    if isinstance(value, list):
        for item in cast("list[object]", value):
            nodes += walk(item)
    elif isinstance(value, dict):
        node = cast("Json", value)
        if "tag" in node:
            nodes.append(node)
        for item in node.values():
            nodes += walk(item)
    return nodes


def elements_of(card: Json) -> list[Json]:
    """Return the nodes of a card's body (JSON 2.0) or elements (JSON 1.0)."""
    body = cast("Json", card.get("body") or {})
    return walk(body.get("elements", card.get("elements", [])))


def check_card(card: Json) -> None:
    """Refuse a card that the platform would refuse.

    Raises:
        FeishuError: 230099 with ErrCode 11310 for tables, 200860 for size, 300305 for elements.
    """
    if len(json.dumps(card, ensure_ascii=False).encode()) > CARD_BYTES:
        raise FeishuError(200860, "card content exceeds the limit", 400)
    nodes = elements_of(card)
    if len(nodes) > MOST_ELEMENTS:
        raise FeishuError(300305, "card element number over limit", 400)
    tables = sum(
        count_tables(str(node.get("content", ""))) for node in nodes if node["tag"] == "markdown"
    ) + sum(node["tag"] == "table" for node in nodes)
    if tables > MOST_TABLES:
        raise card_refused(11310, "card table number over limit; ErrorValue: table")
    ids = [str(node["element_id"]) for node in nodes if node.get("element_id")]
    if len(ids) != len(set(ids)):
        raise card_refused(11311, "element_id is repeated")
    if wrong := [name for name in ids if not _ELEMENT_ID.fullmatch(name)]:
        raise card_refused(11312, f"element_id {wrong[0]!r} is invalid")


@dataclass(slots=True)
class Card:
    """One card entity as it stands now."""

    id: str
    json: Json
    made: float
    sequence: int = 0
    life: float = STREAM_LIFE_S
    streaming_since: float | None = None
    timed_out: bool = False
    told: bool = False
    message_id: str | None = None
    uuids: dict[str, float] = field(default_factory=dict[str, float])

    def streaming(self, now: float) -> bool:
        """Whether streaming mode is on and its time (ten minutes) has not passed."""
        return self.streaming_since is not None and now < self.streaming_since + self.life

    def mark_streaming(self, now: float) -> None:
        """Take over config.streaming_mode from the card's JSON; switching on starts the clock."""
        on = bool(cast("Json", self.json.get("config") or {}).get("streaming_mode"))
        if on and not self.streaming(now):
            self.streaming_since, self.timed_out, self.told = now, False, False
        elif not on:
            self.streaming_since = None

    def element(self, element_id: str) -> Json:
        """Return a node of the card.

        Raises:
            FeishuError: 300313 when there is no such element.
        """
        for node in elements_of(self.json):
            if node.get("element_id") == element_id:
                return node
        raise FeishuError(300313, f"element {element_id!r} is not found")

    def require_streaming(self, now: float) -> None:
        """Refuse a streaming call when the mode is off.

        Raises:
            FeishuError: 200850 for the first call after ten minutes, then 300309.
        """
        if self.streaming_since is not None and not self.streaming(now):
            self.streaming_since = None
            raise FeishuError(200850, "ErrMsg: card streaming timeout; ")
        if self.streaming_since is None:
            raise FeishuError(300309, "ErrMsg: streaming mode is closed; ")

    def take(self, body: Json, now: float) -> bool:
        """Check sequence and uuid of an operation; False when the uuid was seen already.

        Raises:
            FeishuError: 300317 for a sequence that does not rise, 99992402 for none at all.
        """
        uuid, sequence = str(body.get("uuid") or ""), body.get("sequence")
        if uuid and self.uuids.get(uuid, -UUID_LIFE_S) > now - UUID_LIFE_S:
            return False
        if not isinstance(sequence, int) or isinstance(sequence, bool) or sequence > INT32:
            raise bad_field("sequence is no int32")
        if sequence <= self.sequence:
            raise FeishuError(300317, "ErrMsg: sequence number compare failed; ")
        return True

    def done(self, body: Json, now: float) -> None:
        """Note that an operation was accepted."""
        self.sequence = int(body["sequence"])
        if body.get("uuid"):
            self.uuids[str(body["uuid"])] = now


@dataclass(slots=True)
class CardShelf:
    """All card entities by id; life is how long streaming may last, in seconds."""

    cards: dict[str, Card] = field(default_factory=dict[str, Card])
    life: float = STREAM_LIFE_S

    def create(self, card: Json, now: float) -> Card:
        """Make an entity of a checked card."""
        made = Card(f"7{secrets.randbelow(10**18):018d}", card, now, life=self.life)
        made.mark_streaming(now)
        self.cards[made.id] = made
        return made

    def limit_streams(self, after: float, now: float) -> None:
        """Let streaming end `after` seconds from now, for later cards from its start."""
        self.life = after
        for card in self.cards.values():
            if card.streaming_since is not None:
                card.life = now + after - card.streaming_since

    def get(self, card_id: str, now: float) -> Card:
        """Return an entity.

        Raises:
            FeishuError: 200740 for an unknown id, 200750 for one older than 14 days.
        """
        card = self.cards.get(card_id)
        if card is None:
            raise FeishuError(200740, f"card {card_id!r} does not exist", 400)
        if now > card.made + ENTITY_LIFE_S:
            raise FeishuError(200750, "card entity has expired", 400)
        return card
