"""A probe and what it found; probes run in order and may build on what earlier ones left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.errors import PlatformRefused, PlumblineError

Verdict = Literal["pass", "fail", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `next_step` is "" when there is nothing to do."""

    probe: str
    settles: str
    verdict: Verdict
    sentence: str
    next_step: str = ""
    needed: bool = False


class Declined(PlatformRefused):
    """The platform said no; the text says what that means, `next_step` what to do about it."""

    code = "PL-302"

    def __init__(self, message: str, reason: str, next_step: str) -> None:
        super().__init__(message, reason)
        self.next_step = next_step


class Differs(PlumblineError):
    """The platform behaves otherwise than the contract says."""

    code = "PL-305"


class NotProbed(PlumblineError):
    """The probe can not run; the text says why."""

    code = "PL-306"


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to the platform.

    `settles` names the contract's place and mark. `needed` says that the product can not do without
    it. `run` gives the sentence for a pass; it raises Declined, Differs or NotProbed.
    """

    name: str
    settles: str
    run: Callable[[], Awaitable[str]]
    needed: bool = False


async def examine(probes: Sequence[Probe]) -> list[Finding]:
    """Run the probes in order; one that fails does not stop the others."""
    return [await _examined(probe) for probe in probes]


async def _examined(probe: Probe) -> Finding:
    def found(verdict: Verdict, sentence: str, next_step: str = "") -> Finding:
        return Finding(probe.name, probe.settles, verdict, sentence, next_step, needed=probe.needed)

    try:
        return found("pass", await probe.run())
    except NotProbed as reason:
        return found("skipped", str(reason))
    except Declined as refusal:
        return found("fail", str(refusal), refusal.next_step)
    except Differs as surprise:
        return found(
            "fail", str(surprise), "Keep the sample (--save) and tell us: the contract is wrong."
        )
    except PlumblineError as error:
        return found("fail", str(error), "Check the address and the network, then run it again.")
