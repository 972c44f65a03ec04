"""People, departments, chats and their members."""

import re
from typing import Any

from simulator.company import Person
from simulator.feishu.call import Call, Route
from simulator.feishu.errors import FeishuError, bad_field, not_in_chat
from simulator.feishu.side import TENANT
from simulator.state.matching import score
from simulator.state.workspace import BOT, Chat

Json = dict[str, Any]
COMPANY = "od-demo-company"


def department_id(person: Person) -> str:
    """Make a department's id from its name."""
    return "od-demo-" + re.sub(r"\W+", "-", person.department.lower())


def _user(person: Person) -> Json:
    return {
        "open_id": person.open_id,
        "union_id": person.union_id,
        "user_id": person.user_id,
        "name": person.shown,
        "en_name": person.name,
        "email": f"{person.login}@hengxing.example",
        "job_title": person.title_zh if person.language == "zh" else person.title,
        "department_ids": [department_id(person)],
        "time_zone": person.time_zone,
        "status": {"is_activated": True, "is_frozen": False, "is_resigned": False},
    }


def _known(call: Call, user_id: str) -> Person:
    person = call.side.person(user_id)
    kind = call.query.get("user_id_type", "open_id")
    if person is None or getattr(person, kind, None) != user_id:
        raise FeishuError(99992351, f"not a valid {kind}: {user_id}", 400)
    return person


def user(call: Call) -> Json:
    """GET /contact/v3/users/:user_id."""
    return {"user": _user(_known(call, call.path["user_id"]))}


def department(call: Call) -> Json:
    """GET /contact/v3/departments/:department_id."""
    for person in call.side.world.company.people:
        if department_id(person) == call.path["department_id"]:
            return {
                "department": {
                    "name": person.department,
                    "open_department_id": department_id(person),
                    "department_id": department_id(person),
                }
            }
    raise FeishuError(99992352, "not a valid department id", 400)


def departments_above(call: Call) -> Json:
    """GET /contact/v3/departments/parent: every department is part of the company."""
    if not any(
        department_id(person) == call.query.get("department_id")
        for person in call.side.world.company.people
    ):
        raise FeishuError(99992352, "not a valid department id", 400)
    return {"items": [{"name": "Company", "open_department_id": COMPANY}], "has_more": False}


def group_id(name: str) -> str:
    """Make a user group's id from the group's name."""
    return f"g-demo-{name}"


def groups_of_member(call: Call) -> Json:
    """GET /contact/v3/group/member_belong: the company's groups have fixed members."""
    person = _known(call, call.query.get("member_id", ""))
    fixed = call.query.get("group_type", "1") == "1"
    return {"group_list": [group_id(n) for n in person.groups] if fixed else [], "has_more": False}


def _chat_item(chat: Chat) -> Json:
    return {
        "chat_id": chat.id,
        "name": chat.name,
        "description": "",
        "external": False,
        "tenant_key": TENANT,
        "chat_status": "normal",
    }


def chats(call: Call) -> Json:
    """GET /im/v1/chats and /im/v1/chats/search: groups the caller is in."""
    query = call.query.get("query", "")
    mine = [
        chat
        for chat in call.side.space.chats.values()
        if chat.kind != "direct"
        and call.side.space.may_see(call.caller, chat.id)
        and score(query, f"{chat.name} {chat.name_zh}") > 0
    ]
    items, token = call.page(mine, 100, 20)
    return {
        "items": [_chat_item(chat) for chat in items],
        "has_more": bool(token),
        "page_token": token,
    }


def _chat(call: Call) -> Chat:
    chat = call.side.space.chats.get(call.path["chat_id"])
    if chat is None:
        raise bad_field("chat_id is unknown")
    if not call.side.space.may_see(call.caller, chat.id):
        raise not_in_chat()
    return chat


def chat_info(call: Call) -> Json:
    """GET /im/v1/chats/:chat_id."""
    chat = _chat(call)
    return {
        "name": chat.name,
        "i18n_names": {"zh_cn": chat.name_zh, "en_us": chat.name},
        "description": "",
        "chat_mode": {"direct": "p2p", "topic_group": "topic"}.get(chat.kind, "group"),
        "chat_type": "private",
        "group_message_type": "thread" if chat.kind == "topic_group" else "chat",
        "external": False,
        "tenant_key": TENANT,
        "user_count": str(len(chat.members)),
        "bot_count": "1" if chat.with_bot else "0",
    }


def members(call: Call) -> Json:
    """GET /im/v1/chats/:chat_id/members: people only, bots are not listed."""
    chat = _chat(call)
    people = [call.side.world.known(login) for login in chat.members]
    items, token = call.page(people, 100, 20)
    kind = call.query.get("member_id_type", "open_id")
    return {
        "items": [
            {
                "member_id": getattr(person, kind, person.open_id),
                "member_id_type": kind,
                "name": person.shown,
                "tenant_key": TENANT,
            }
            for person in items
        ],
        "member_total": len(people),
        "has_more": bool(token),
        "page_token": token,
    }


def is_in_chat(call: Call) -> Json:
    """GET /im/v1/chats/:chat_id/members/is_in_chat, for the calling identity."""
    chat = call.side.space.chats.get(call.path["chat_id"])
    if chat is None:
        raise bad_field("chat_id is unknown")
    inside = chat.with_bot if call.caller == BOT else call.caller in chat.members
    return {"is_in_chat": inside}


ROUTES = [
    Route("GET", "/open-apis/contact/v3/users/:user_id", user),
    Route("GET", "/open-apis/contact/v3/departments/parent", departments_above),
    Route("GET", "/open-apis/contact/v3/departments/:department_id", department),
    Route("GET", "/open-apis/contact/v3/group/member_belong", groups_of_member),
    Route("GET", "/open-apis/im/v1/chats", chats),
    Route("GET", "/open-apis/im/v1/chats/search", chats),
    Route("GET", "/open-apis/im/v1/chats/:chat_id", chat_info),
    Route("GET", "/open-apis/im/v1/chats/:chat_id/members", members),
    Route("GET", "/open-apis/im/v1/chats/:chat_id/members/is_in_chat", is_in_chat),
]
