"""People and administrators who take a consent back at the platform, not at the bot."""

from typing import Any

from simulator.control.sim import ControlError, Sim
from simulator.feishu import events as feishu_events
from simulator.slack import events as slack_events

Json = dict[str, Any]


def revoke(sim: Sim, body: Json) -> Json:
    """End a person's tokens; Slack tells the bot (tokens_revoked), Feishu does not."""
    platform, login = str(body.get("platform")), str(body.get("as"))
    sim.space(platform)
    if sim.world.company.person(login) is None:
        raise ControlError(f"nobody here is called {login!r}")
    if platform == "feishu":
        return {"ended": sim.feishu.grants.end_person(login)}
    ended = sim.slack.grants.end_person(login)
    event = {"type": "tokens_revoked", "tokens": {"oauth": [sim.slack.user_id(login)], "bot": []}}
    sim.courier.send(slack_events.event_parcel(sim.slack, event))
    return {"ended": ended}


def uninstall(sim: Sim, body: Json) -> Json:
    """End everybody's tokens and tell the bot that its app was removed."""
    platform = str(body.get("platform"))
    sim.space(platform)
    if platform == "feishu":
        ended = sim.feishu.grants.end_person("")
        sim.courier.send(feishu_events.parcel(sim.feishu, "app_uninstalled", {}))
        return {"ended": ended}
    ended = sim.slack.grants.end_person("")
    sim.courier.send(slack_events.event_parcel(sim.slack, {"type": "app_uninstalled"}))
    return {"ended": ended}
