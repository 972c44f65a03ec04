"""Live news for the chat page: one queue for each open page."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, eq=False)
class Subscriber:
    """One open page: the platform it shows and the person it is."""

    platform: str
    login: str
    queue: "asyncio.Queue[tuple[str, Any]]" = field(default_factory=asyncio.Queue[tuple[str, Any]])


class Feed:
    """Fans news out to the pages that may see them."""

    def __init__(self) -> None:
        self._subscribers: set[Subscriber] = set()

    def join(self, platform: str, login: str) -> Subscriber:
        """Open a queue for a page."""
        subscriber = Subscriber(platform, login)
        self._subscribers.add(subscriber)
        return subscriber

    def leave(self, subscriber: Subscriber) -> None:
        """Close a page's queue."""
        self._subscribers.discard(subscriber)

    def publish(self, platform: str, event: str, make: Callable[[str], Any | None]) -> None:
        """Send an event to each page of a platform; make(login) gives its data, None skips."""
        for subscriber in self._subscribers:
            if subscriber.platform == platform:
                data = make(subscriber.login)
                if data is not None:
                    subscriber.queue.put_nowait((event, data))
