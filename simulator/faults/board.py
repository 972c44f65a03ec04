"""The board of fault switches: which fault applies to which call or delivery, and how often."""

import random
from collections.abc import Collection
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

Json = dict[str, Any]

CALL_KINDS = frozenset(
    (
        "rate_limit",
        "status",
        "html",
        "slow",
        "drop",
        "bad_json",
        "code",
        "token_invalid",
        "card_sequence",
        "missing_scope",
    )
)
"""Faults of an API call."""
DELIVERY_KINDS = frozenset(("duplicate", "reorder", "lost_answer"))
"""Faults of an event on its way to the bot."""
STREAM_END = "stream_end"
LIFETIME = "token_life"
"""How long tokens of people live that are issued from now on."""
KINDS = CALL_KINDS | DELIVERY_KINDS | {STREAM_END, LIFETIME}

_FIELDS = frozenset(("kind", "platform", "method", "path", "count", "probability", "seed"))


@dataclass(slots=True)
class Fault:
    """One switch.

    path is a pattern (`*` and `?`) on the API path, for deliveries on the event's type. left is how
    often it still strikes, None for ever. options are the fields that belong to the kind.
    """

    id: str
    kind: str
    platform: str
    method: str
    path: str
    left: int | None
    probability: float
    seed: int
    options: Json
    hits: int = 0
    chance: random.Random = field(default_factory=random.Random, repr=False)

    def fits(self, platform: str, method: str, path: str) -> bool:
        """Whether the switch is meant for this call, whatever chance says."""
        return (
            self.platform in ("*", platform)
            and self.method in ("*", method)
            and fnmatchcase(path, self.path)
            and self.left != 0
        )

    def strike(self) -> bool:
        """Whether it strikes this time; counts when it does."""
        if self.probability < 1.0 and self.chance.random() >= self.probability:
            return False
        self.hits += 1
        if self.left is not None:
            self.left -= 1
        return True

    def shown(self) -> Json:
        """The switch as GET /sim/faults lists it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "platform": self.platform,
            "method": self.method,
            "path": self.path,
            "left": self.left,
            "probability": self.probability,
            "seed": self.seed,
            "hits": self.hits,
            **self.options,
        }


class Board:
    """All switches, in the order they were set; the first that strikes decides."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._made = 0

    def add(self, body: Json) -> Fault:
        """Set a switch.

        Raises:
            ValueError: a field makes no sense; the text says which.
        """
        kind = body.get("kind")
        if kind not in KINDS:
            raise ValueError(f"kind is one of {', '.join(sorted(KINDS))}, not {kind!r}")
        platform = body.get("platform", "*")
        if platform not in ("*", "feishu", "slack"):
            raise ValueError("platform is feishu, slack or *")
        count, probability = body.get("count"), body.get("probability", 1.0)
        seed = body.get("seed", 0)
        if count is not None and (not isinstance(count, int) or count < 1):
            raise ValueError("count is a whole number from 1, or null for ever")
        if not isinstance(probability, int | float) or not 0 < probability <= 1:
            raise ValueError("probability is a number above 0, up to 1")
        if not isinstance(seed, int):
            raise ValueError("seed is a whole number")  # noqa: TRY004 - nonsense told as one kind
        self._made += 1
        fault = Fault(
            id=f"f{self._made}",
            kind=str(kind),
            platform=str(platform),
            method=str(body.get("method", "*")).upper(),
            path=str(body.get("path", "*")),
            left=count,
            probability=float(probability),
            seed=seed,
            options={name: value for name, value in body.items() if name not in _FIELDS},
            chance=random.Random(seed),  # noqa: S311 - a test's dice, meant to fall the same again
        )
        self.faults.append(fault)
        return fault

    def take(
        self, kinds: Collection[str], platform: str, path: str, method: str = "*"
    ) -> Fault | None:
        """Return the first switch of these kinds that strikes here, None when none does."""
        for fault in self.faults:
            if fault.kind in kinds and fault.fits(platform, method, path) and fault.strike():
                return fault
        return None

    def withheld(self, platform: str) -> frozenset[str]:
        """Return the scopes that switches have taken away."""
        return frozenset(
            str(one.options.get("scope"))
            for one in self.faults
            if one.kind == "missing_scope" and one.left != 0 and one.platform in ("*", platform)
        )

    def remove(self, fault_id: str = "") -> int:
        """Take one switch off the board, or all; return how many are gone."""
        before = len(self.faults)
        self.faults = [one for one in self.faults if fault_id and one.id != fault_id]
        return before - len(self.faults)
