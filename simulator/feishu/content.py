"""Message contents: what a msg_type asks for, and the plain text a person would read."""

import json
import re
from typing import Any, cast

from simulator.feishu.errors import bad_content

Json = dict[str, Any]
TYPES = frozenset(
    (
        "text",
        "post",
        "image",
        "file",
        "audio",
        "media",
        "sticker",
        "interactive",
        "share_chat",
        "share_user",
    )
)
_NEEDS = {
    "text": "text",
    "image": "image_key",
    "file": "file_key",
    "audio": "file_key",
    "media": "file_key",
    "sticker": "file_key",
    "share_chat": "chat_id",
    "share_user": "user_id",
}
TEXT_BYTES = 150 * 1024
POST_BYTES = 30 * 1024


def compact(value: object) -> str:
    """Serialise as the platform does: no spaces, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text_content(text: str) -> str:
    """Make the content of a text message."""
    return compact({"text": text})


def parse_content(msg_type: str, content: object) -> Json:
    """Check a content field and return it parsed.

    Raises:
        FeishuError: 230001 for a wrong form or type, 230025 for one too long.
    """
    if msg_type not in TYPES:
        raise bad_content(f"unknown msg_type {msg_type!r}")
    if not isinstance(content, str):
        raise bad_content("content is not a string")
    size = len(content.encode())
    if size > (TEXT_BYTES if msg_type == "text" else POST_BYTES):
        from_limit = "text message" if msg_type == "text" else "card or post"
        raise too_long(f"{from_limit} of {size} bytes")
    try:
        parsed: object = json.loads(content)
    except ValueError as broken:
        raise bad_content("content is not in JSON format") from broken
    if not isinstance(parsed, dict):
        raise bad_content("content is no JSON object")
    fields = cast("Json", parsed)
    need = _NEEDS.get(msg_type)
    if need and not isinstance(fields.get(need), str):
        raise bad_content(f"{msg_type} content lacks {need}")
    if msg_type == "text" and not fields["text"]:
        raise bad_content("text is empty")
    return fields


def too_long(what: str) -> Exception:
    """The content is longer than the platform takes."""
    refusal = bad_content(f"{what} is too long")
    refusal.code = 230025
    return refusal


def _element_text(element: Json) -> str:
    tag = element.get("tag")
    if tag == "at":
        return f"@{element.get('user_name') or element.get('user_id', '')}"
    if tag == "a":
        return f"[{element.get('text', '')}]({element.get('href', '')})"
    if tag == "code_block":
        return f"```\n{element.get('text', '')}\n```"
    return str(element.get("text", ""))


def _post_text(post: Json) -> str:
    if "content" not in post and post:
        post = cast("Json", next(iter(post.values())))
    rows = cast("list[list[Json]]", post.get("content", []))
    lines = ["".join(map(_element_text, row)) for row in rows]
    title = str(post.get("title") or "")
    return "\n".join([title, *lines] if title else lines).strip()


def unwrap_post(content: str) -> str:
    """Take the locale wrapper off a post that is sent; received posts have none."""
    post = cast("Json", json.loads(content))
    if "content" in post:
        return content
    inner = cast("list[object]", list(post.values()))
    return compact(inner[0] if inner else {"title": "", "content": []})


def plain(msg_type: str, content: Json) -> str:
    """Return the text a person would read; empty for pictures and files."""
    if msg_type == "text":
        return re.sub(r'<at user_id="([^"]*)">(.*?)</at>', r"@\2", str(content.get("text", "")))
    if msg_type == "post":
        return _post_text(content)
    return ""


def degraded_card(card: Json) -> str:
    """Make the poor form in which the API gives a card back: title and rows of elements."""
    header = cast("Json", card.get("header") or {})
    title = cast("Json", header.get("title") or {}).get("content")
    rows = [[{"tag": "text", "text": line}] for line in card_texts(card)]
    return compact({"title": title, "elements": rows or [[{"tag": "text", "text": ""}]]})


def card_texts(value: object) -> list[str]:
    """Collect the markdown and plain text of a card's body in reading order."""
    found: list[str] = []
    if isinstance(value, list):
        for item in cast("list[object]", value):
            found += card_texts(item)
    elif isinstance(value, dict):
        node = cast("Json", value)
        if node.get("tag") in {"markdown", "plain_text", "lark_md"} and node.get("content"):
            found.append(str(node["content"]))
        for key, item in node.items():
            if key != "config":
                found += card_texts(item)
    return found
