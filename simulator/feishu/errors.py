"""Feishu's error codes as the contract names them (FEISHU.md section 8)."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, eq=False)
class FeishuError(Exception):
    """A refused call: code and msg in the body, with an HTTP status and extra headers."""

    code: int
    msg: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    extra: dict[str, Any] = field(default_factory=dict[str, Any])


def bad_field(what: str) -> FeishuError:
    """A field is missing or has a wrong form."""
    return FeishuError(99992402, f"field validation failed: {what}", 400)


def token_invalid() -> FeishuError:
    """The app's token is unknown or too old."""
    return FeishuError(99991663, "Invalid access token for authorization.", 400)


def user_token_invalid() -> FeishuError:
    """The person's token is unknown or too old."""
    return FeishuError(99991668, "Invalid access token for authorization.", 401)


def too_fast(wait: float, most: int) -> FeishuError:
    """Frequency limit; wait is seconds until the next call may pass."""
    return FeishuError(
        99991400,
        "request trigger frequency limit",
        429,
        {"x-ogw-ratelimit-limit": str(most), "x-ogw-ratelimit-reset": str(max(1, round(wait)))},
    )


def not_found(what: str) -> FeishuError:
    """A message that does not exist (any more) or that the caller may not see."""
    return FeishuError(231003, f"{what} not found", 400)


def recalled() -> FeishuError:
    """The message was taken back."""
    return FeishuError(230011, "The message was withdrawn.", 400)


def not_in_chat() -> FeishuError:
    """The bot (or the person) is not in the chat."""
    return FeishuError(230002, "Bot/User can NOT be out of the chat.", 400)


def bad_content(why: str) -> FeishuError:
    """The content field is not what its msg_type asks for."""
    return FeishuError(
        230001, f"Your request contains an invalid request parameter, ext={why}", 400
    )


def card_refused(error_code: int, why: str) -> FeishuError:
    """A card that can not be shown; the true cause stands in msg."""
    return FeishuError(
        230099,
        f"Failed to create card content, ext=ErrCode: {error_code}; ErrMsg: {why}; ",
        400,
    )
