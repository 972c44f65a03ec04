"""CardKit v1: entities, streamed text, settings, element changes (FEISHU.md section 4)."""

import json
from copy import deepcopy
from typing import Any, cast

from simulator.feishu import content as contents
from simulator.feishu.call import Call, Route
from simulator.feishu.cardshelf import Card, check_card, elements_of
from simulator.feishu.errors import FeishuError, bad_field, too_fast
from simulator.feishu.side import CARD_LIMIT

Json = dict[str, Any]


def _json(given: object, what: str) -> object:
    try:
        return json.loads(given) if isinstance(given, str) else given
    except ValueError as broken:
        raise bad_field(f"{what} is no JSON") from broken


def _card_json(given: object) -> Json:
    card = _json(given, "card")
    if not isinstance(card, dict):
        raise bad_field("card is no JSON object")
    fields = cast("Json", card)
    if fields.get("schema") != "2.0":
        raise FeishuError(300301, "CardKit needs card JSON 2.0", 400)
    if cast("Json", fields.get("config") or {}).get("update_multi") is False:
        raise FeishuError(300301, "CardKit needs update_multi", 400)
    check_card(fields)
    return fields


def create(call: Call) -> Json:
    """POST /cards."""
    if call.body.get("type") != "card_json":
        raise bad_field("type must be card_json")
    return {"card_id": call.side.shelf.create(_card_json(call.body.get("data")), call.now).id}


def id_convert(call: Call) -> Json:
    """POST /cards/id_convert: the card id of a message."""
    message = call.message(call.text("message_id"))
    if message.card_id is None:
        if message.card is None:
            raise bad_field("the message is no card")
        card = call.side.shelf.create(message.card, call.now)
        card.message_id, message.card_id = message.id, card.id
    return {"card_id": message.card_id}


def _open(call: Call) -> Card:
    card = call.side.shelf.get(call.path["card_id"], call.now)
    wait = call.side.card_limit.take(card.id, call.now)
    if wait:
        raise too_fast(wait, CARD_LIMIT)
    return card


def _apply(call: Call, card: Card, changed: Json) -> None:
    """Accept an operation: check the new card, keep it, redraw its message."""
    check_card(changed)
    card.json = changed
    card.done(call.body, call.now)
    card.mark_streaming(call.now)
    show(call, card)


def show(call: Call, card: Card) -> None:
    """Redraw the message that carries an entity."""
    message = call.side.space.find(card.message_id)
    if message is None:
        return
    message.card = card.json
    message.streaming = card.streaming(call.now)
    message.text = "\n".join(contents.card_texts(card.json))
    message.updated = call.now
    call.side.space.touch(message)


def stream_text(call: Call) -> Json:
    """PUT an element's content: the whole text so far."""
    card = _open(call)
    text = call.body.get("content")
    if not isinstance(text, str):
        raise bad_field("content is required")
    if not card.take(call.body, call.now):
        return {}
    try:
        card.require_streaming(call.now)
    except FeishuError:
        show(call, card)
        raise
    changed = deepcopy(card.json)
    node = _node(changed, call.path["element_id"])
    if node["tag"] == "plain_text" or node["tag"] == "markdown":
        node["content"] = text
    elif isinstance(node.get("text"), dict):
        node["text"]["content"] = text
    else:
        raise FeishuError(300313, "the element carries no text")
    check_card(changed)
    card.json = changed
    card.done(call.body, call.now)
    show(call, card)
    return {}


def _node(card: Json, element_id: str) -> Json:
    for node in elements_of(card):
        if node.get("element_id") == element_id:
            return node
    raise FeishuError(300313, f"element {element_id!r} is not found")


def settings(call: Call) -> Json:
    """PATCH settings: merges config; streaming_mode on starts ten new minutes."""
    card = _open(call)
    given = _json(call.body.get("settings"), "settings")
    if not isinstance(given, dict):
        raise bad_field("settings is required")
    if not card.take(call.body, call.now):
        return {}
    changed = deepcopy(card.json)
    config = cast("Json", cast("Json", given).get("config") or {})
    changed["config"] = {**cast("Json", changed.get("config") or {}), **config}
    if config.get("streaming_mode") is True:
        card.streaming_since = None
    _apply(call, card, changed)
    return {}


def replace(call: Call) -> Json:
    """PUT the whole card."""
    card = _open(call)
    given = cast("Json", call.body.get("card") or {})
    changed = _card_json(given.get("data"))
    if card.take(call.body, call.now):
        _apply(call, card, changed)
    return {}


def batch(call: Call) -> Json:
    """POST batch_update: actions in order, all or none."""
    card = _open(call)
    actions = _json(call.body.get("actions"), "actions")
    if not isinstance(actions, list):
        raise bad_field("actions is required")
    if not card.take(call.body, call.now):
        return {}
    changed = deepcopy(card.json)
    for action in cast("list[Json]", actions):
        params = cast("Json", action.get("params") or {})
        _act(changed, str(action.get("action")), params)
    _apply(call, card, changed)
    return {}


def _act(card: Json, action: str, params: Json) -> None:
    if action == "partial_update_setting":
        given = cast("Json", _json(params.get("settings"), "settings"))
        config = cast("Json", given.get("config") or {})
        card["config"] = {**cast("Json", card.get("config") or {}), **config}
    elif action == "add_elements":
        insert_elements(card, params)
    elif action == "delete_elements":
        for element_id in cast("list[str]", _json(params.get("element_ids"), "element_ids")):
            remove_element(card, element_id)
    elif action == "partial_update_element":
        update_element(card, str(params.get("element_id")), params.get("partial_element"))
    elif action == "update_element":
        put_element(card, str(params.get("element_id")), params.get("element"))
    else:
        raise bad_field(f"unknown action {action!r}")


def _place(holder: object, element_id: str) -> tuple[list[Json], int] | None:
    """Find the list and index at which an element stands."""
    if isinstance(holder, dict):
        for value in cast("Json", holder).values():
            if found := _place(value, element_id):
                return found
    elif isinstance(holder, list):
        rows = cast("list[Json]", holder)
        for index, row in enumerate(rows):
            if _named(row, element_id):
                return rows, index
            if found := _place(row, element_id):
                return found
    return None


def _named(row: object, element_id: str) -> bool:
    return isinstance(row, dict) and cast("Json", row).get("element_id") == element_id


def _spot(card: Json, element_id: str) -> tuple[list[Json], int]:
    found = _place(card.get("body"), element_id)
    if found is None:
        raise FeishuError(300313, f"element {element_id!r} is not found")
    return found


def insert_elements(card: Json, params: Json) -> None:
    """Insert elements before or after another, or append them to the body."""
    fresh = cast("list[Json]", _json(params.get("elements"), "elements"))
    target, where = params.get("target_element_id"), params.get("type", "append")
    if target and where in {"insert_before", "insert_after"}:
        rows, index = _spot(card, str(target))
        index += where == "insert_after"
        rows[index:index] = fresh
    elif target:
        rows, index = _spot(card, str(target))
        cast("list[Json]", rows[index].setdefault("elements", [])).extend(fresh)
    else:
        body = cast("Json", card.setdefault("body", {}))
        cast("list[Json]", body.setdefault("elements", [])).extend(fresh)


def remove_element(card: Json, element_id: str) -> None:
    """Take an element out."""
    rows, index = _spot(card, element_id)
    del rows[index]


def put_element(card: Json, element_id: str, element: object) -> None:
    """Replace an element."""
    rows, index = _spot(card, element_id)
    rows[index] = cast("Json", _json(element, "element"))


def update_element(card: Json, element_id: str, partial: object) -> None:
    """Change some fields of an element."""
    rows, index = _spot(card, element_id)
    rows[index] = {**rows[index], **cast("Json", _json(partial, "partial_element"))}


def _change(call: Call, name: str) -> Json:
    card = _open(call)
    if not card.take(call.body, call.now):
        return {}
    changed = deepcopy(card.json)
    element_id = call.path.get("element_id", "")
    if name == "insert":
        insert_elements(changed, call.body)
    elif name == "put":
        put_element(changed, element_id, call.body.get("element"))
    elif name == "patch":
        update_element(changed, element_id, call.body.get("partial_element"))
    else:
        remove_element(changed, element_id)
    _apply(call, card, changed)
    return {}


_CARD = "/open-apis/cardkit/v1/cards/:card_id"
_ELEMENT = f"{_CARD}/elements/:element_id"
ROUTES = [
    Route("POST", "/open-apis/cardkit/v1/cards", create, "app"),
    Route("POST", "/open-apis/cardkit/v1/cards/id_convert", id_convert, "app"),
    Route("PUT", _CARD, replace, "app"),
    Route("PATCH", f"{_CARD}/settings", settings, "app"),
    Route("POST", f"{_CARD}/batch_update", batch, "app"),
    Route("PUT", f"{_ELEMENT}/content", stream_text, "app"),
    Route("POST", f"{_CARD}/elements", lambda call: _change(call, "insert"), "app"),
    Route("PUT", _ELEMENT, lambda call: _change(call, "put"), "app"),
    Route("PATCH", _ELEMENT, lambda call: _change(call, "patch"), "app"),
    Route("DELETE", _ELEMENT, lambda call: _change(call, "delete"), "app"),
]
