"""Set and take away fault switches; what a switch changes at once is changed here."""

from typing import Any

from simulator.control.sim import ControlError, Sim
from simulator.control.trouble import close_overdue
from simulator.faults.board import STREAM_END
from simulator.feishu.cardshelf import STREAM_LIFE_S as CARD_LIFE_S
from simulator.slack.side import STREAM_LIFE_S

Json = dict[str, Any]


def turn_on(sim: Sim, body: Json) -> Json:
    """Set a switch and return it with its id.

    Raises:
        ControlError: the switch makes no sense.
    """
    after = body.get("after", 0)
    if body.get("kind") == STREAM_END and (not isinstance(after, int | float) or after < 0):
        raise ControlError("after is a number of seconds, not negative")
    try:
        fault = sim.world.faults.add(body)
    except ValueError as nonsense:
        raise ControlError(str(nonsense)) from nonsense
    if fault.kind == STREAM_END:
        now = sim.world.clock.now()
        if fault.platform in ("*", "feishu"):
            sim.feishu.shelf.limit_streams(float(after), now)
        if fault.platform in ("*", "slack"):
            sim.slack.limit_streams(float(after), now)
        close_overdue(sim)
    return fault.shown()


def turn_off(sim: Sim, fault_id: str) -> Json:
    """Take one switch away, or all; what was held back is delivered, new streams live full time."""
    removed = sim.world.faults.remove(fault_id)
    kinds = {fault.kind for fault in sim.world.faults.faults}
    if STREAM_END not in kinds:
        sim.feishu.shelf.life, sim.slack.stream_life = CARD_LIFE_S, STREAM_LIFE_S
    if "reorder" not in kinds:
        sim.courier.release()
    return {"removed": removed}
