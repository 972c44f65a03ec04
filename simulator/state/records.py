"""What tests may look up afterwards: the bot's API calls and the events sent to it."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Call:
    """One API call the bot made, with the answer's status and code ("0"/"ok" when fine)."""

    n: int
    at: float
    platform: str
    method: str
    path: str
    body: Any
    status: int
    code: int | str
    person: str


@dataclass(slots=True)
class Delivery:
    """One event on its way to the bot; status is pending, delivered, retrying or given_up."""

    event_id: str
    url: str
    body_kind: str
    status: str = "pending"
    tries: int = 0
    answers: list[int] = field(default_factory=list[int])


class Records:
    """Calls and deliveries since the last reset."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.deliveries: list[Delivery] = []

    def clear(self) -> None:
        """Forget everything; numbering starts at 1 again."""
        self.calls.clear()
        self.deliveries.clear()

    def calls_since(self, number: int) -> list[dict[str, Any]]:
        """Return the calls with a larger number as plain values."""
        return [asdict(call) for call in self.calls if call.n > number]
