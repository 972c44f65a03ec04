"""Where an OpenSearch index is and how to get in; loads no client."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Target:
    """Where the index is and how to get in.

    `aws` is the service that requests are signed for: "es" (a managed domain), "aoss" (serverless)
    or "" for none. Without it, a user and a password are sent when there is a user.
    """

    url: str
    aws: Literal["", "es", "aoss"] = ""
    region: str = ""
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def serverless(self) -> bool:
        """Whether it is a collection: no own ids, no refresh on demand, another vector engine."""
        return self.aws == "aoss"
