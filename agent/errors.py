"""The error tree: what went wrong decides who hears of it.

PlumblineError
├── Retryable            try again; nobody needs to know yet
│   ├── RateLimited      the other side named a pause
│   ├── Unavailable      time-out, connection lost, 5xx
│   └── ConditionFailed  somebody else wrote first: read again and decide anew
├── ForModel             the model hears it as a tool result and acts on it
│   ├── BadArguments     the call does not fit the tool's schema
│   ├── ToolFailed       the tool ran and failed for good
│   └── ToolTimedOut     the call had no answer within its limit; it is not tried again
└── ForPerson            the person hears it, with a code and a next step
    ├── Misconfigured    an operator has to act
    ├── PlatformRefused  the chat platform said no for good
    ├── ModelRefused     the model declined the content
    └── ModelFailed      the model gave nothing that can be shown
        └── ContextTooLong   the request is longer than the model's window
"""

from __future__ import annotations


class PlumblineError(Exception):
    """Base of everything this project raises on purpose."""

    code = "PL-000"


class Retryable(PlumblineError):
    """A passing fault: the same call may succeed later."""

    code = "PL-100"


class RateLimited(Retryable):
    """The other side asked for a pause of `retry_after` seconds."""

    code = "PL-101"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(Retryable):
    """No usable answer: a time-out, a lost connection or a 5xx."""

    code = "PL-102"


class ConditionFailed(Retryable):
    """A conditional write met another state than it asked for."""

    code = "PL-103"


class ForModel(PlumblineError):
    """A fault that the model can act on; its text becomes the tool result."""

    code = "PL-200"


class BadArguments(ForModel):
    """The arguments do not fit the tool's schema; the text says where."""

    code = "PL-201"


class ToolFailed(ForModel):
    """The tool ran and failed for good."""

    code = "PL-202"


class ToolTimedOut(ForModel):
    """The call had no answer within its limit."""

    code = "PL-203"


class ForPerson(PlumblineError):
    """A fault that the asker is told about, with a code and a next step."""

    code = "PL-300"


class Misconfigured(ForPerson):
    """A setting is missing or wrong; an operator has to act."""

    code = "PL-301"


class PlatformRefused(ForPerson):
    """The chat platform refused a call for good; `reason` is the platform's own code."""

    code = "PL-302"

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class ModelRefused(ForPerson):
    """The model declined to answer because of the content. It is not asked again."""

    code = "PL-303"


class ModelFailed(ForPerson):
    """The model gave nothing that can be shown, or could not be reached."""

    code = "PL-304"


class ContextTooLong(ModelFailed):
    """The request does not fit the model's window; a shorter one may."""

    code = "PL-307"
