"""usergroups.list: the company's groups as Slack's user groups."""

from typing import Any

from simulator.slack.call import Call, Method
from simulator.slack.side import TEAM

Json = dict[str, Any]


def group_id(name: str) -> str:
    """Make a user group's id from the group's name."""
    return f"S0DEMO{name[:4].upper()}"


def usergroups_list(call: Call) -> Json:
    """usergroups.list."""
    people = call.side.world.company.people
    names = sorted({name for person in people for name in person.groups})
    return {"usergroups": [_item(call, name) for name in names]}


def _item(call: Call, name: str) -> Json:
    members = [p.slack_id for p in call.side.world.company.people if name in p.groups]
    item: Json = {
        "id": group_id(name),
        "team_id": TEAM,
        "is_usergroup": True,
        "name": name.capitalize(),
        "handle": name,
        "date_delete": 0,
        "user_count": len(members),
    }
    return item | ({"users": members} if call.flag("include_users") else {})


METHODS = {"usergroups.list": Method(usergroups_list)}
