"""Who is who: auth.test, users.info, OAuth (SLACK.md section 6)."""

from typing import Any

from simulator.slack.call import Call, Method
from simulator.slack.errors import SlackError
from simulator.slack.show import bot_item, person_item
from simulator.slack.side import BOT_ID, BOT_NAME, BOT_USER, TEAM, TEAM_DOMAIN, TEAM_NAME
from simulator.state.workspace import BOT

Json = dict[str, Any]


def auth_test(call: Call) -> Json:
    """auth.test."""
    who: Json = {"user": call.caller, "user_id": call.side.user_id(call.caller)}
    if call.caller == BOT:
        who = {"user": BOT_NAME, "user_id": BOT_USER, "bot_id": BOT_ID}
    return {
        "url": f"https://{TEAM_DOMAIN}.slack.com/",
        "team": TEAM_NAME,
        "team_id": TEAM,
        **who,
        "is_enterprise_install": False,
    }


def users_info(call: Call) -> Json:
    """users.info."""
    user_id = call.need("user", "user_not_found")
    if user_id == BOT_USER:
        return {"user": bot_item()}
    person = call.side.world.company.by_id(user_id)
    if person is None:
        raise SlackError("user_not_found")
    return {"user": person_item(person)}


METHODS = {"auth.test": Method(auth_test), "users.info": Method(users_info)}
