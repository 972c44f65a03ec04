"""Limits of blocks and the text a person reads in them (SLACK.md section 3)."""

from typing import Any, cast

from simulator.slack.errors import SlackError

Json = dict[str, Any]
MOST_BLOCKS = 50
MOST_IN_ALL = 13_200
MOST_TEXT = 40_000
MARKDOWN = 12_000
SECTION = 3_000
_KNOWN = frozenset(
    (
        "section",
        "divider",
        "header",
        "context",
        "actions",
        "image",
        "markdown",
        "rich_text",
        "input",
        "context_actions",
        "file",
        "video",
        "table",
        "plan",
        "task_card",
    )
)


def _text_of(value: object) -> str:
    return str(cast("Json", value).get("text", "")) if isinstance(value, dict) else ""


def _refuse(index: int, why: str) -> SlackError:
    return SlackError(
        "invalid_blocks",
        extra={
            "errors": [f"{why} [json-pointer:/blocks/{index}]"],
            "response_metadata": {"messages": [f"[ERROR] {why} [json-pointer:/blocks/{index}]"]},
        },
    )


def _check_section(index: int, block: Json) -> None:
    fields = cast("list[object]", block.get("fields") or [])
    if not block.get("text") and not fields:
        raise _refuse(index, "missing required field: text")
    if "text" in block and not 0 < len(_text_of(block["text"])) <= SECTION:
        raise _refuse(index, f"must be 1 to {SECTION} characters")
    if len(fields) > 10 or any(len(_text_of(one)) > 2000 for one in fields):
        raise _refuse(index, "no more than 10 fields of 2000 characters")


def _check_block(index: int, block: Json) -> None:
    kind = block.get("type")
    if kind not in _KNOWN:
        raise _refuse(index, f"unsupported type: {kind}")
    if len(str(block.get("block_id", ""))) > 255:
        raise _refuse(index, "block_id is longer than 255")
    elements = cast("list[Json]", block.get("elements") or [])
    most = {"context": 10, "actions": 25, "context_actions": 5}.get(str(kind))
    if most and not 0 < len(elements) <= most:
        raise _refuse(index, f"must have 1 to {most} elements")
    if any(len(str(element.get("action_id", ""))) > 255 for element in elements):
        raise _refuse(index, "action_id is longer than 255")
    if kind == "section":
        _check_section(index, block)
    if kind == "header" and not 0 < len(_text_of(block.get("text"))) <= 150:
        raise _refuse(index, "must be 1 to 150 characters")
    if kind == "markdown" and not 0 < len(str(block.get("text", ""))) <= MARKDOWN:
        raise _refuse(index, f"must be 1 to {MARKDOWN} characters")


def check_blocks(given: object) -> list[Json] | None:
    """Check blocks and return them; None when there are none.

    Raises:
        SlackError: invalid_blocks_format, invalid_blocks or msg_blocks_too_long.
    """
    if given is None or given == "" or given == []:
        return None
    if not isinstance(given, list):
        raise SlackError("invalid_blocks_format")
    if not all(isinstance(block, dict) for block in cast("list[object]", given)):
        raise SlackError("invalid_blocks_format")
    blocks = cast("list[Json]", given)
    if len(blocks) > MOST_BLOCKS:
        raise _refuse(MOST_BLOCKS, f"no more than {MOST_BLOCKS} items allowed")
    for index, block in enumerate(blocks):
        _check_block(index, block)
    if sum(len(text) for text in texts(blocks)) > MOST_IN_ALL:
        raise SlackError("msg_blocks_too_long")
    return blocks


def texts(value: object) -> list[str]:
    """Collect the texts of blocks in reading order."""
    found: list[str] = []
    if isinstance(value, list):
        for item in cast("list[object]", value):
            found += texts(item)
    elif isinstance(value, dict):
        for key, item in cast("Json", value).items():
            if key == "text" and isinstance(item, str):
                found.append(item)
            elif isinstance(item, dict | list):
                found += texts(cast("object", item))
    return found
