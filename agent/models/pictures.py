"""Pictures for models: what their bytes are, and the words that stand in for them."""

from __future__ import annotations

from base64 import b64encode

from agent.dialogue import Picture

_WEBP_AT = 8


def media_type(data: bytes) -> str | None:
    """The type that the bytes show, whatever their sender said (case C-AG-07).

    None for anything but the four kinds that models take: JPEG, PNG, GIF and WebP.
    """
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[_WEBP_AT:].startswith(b"WEBP"):
        return "image/webp"
    return None


def encoded(picture: Picture) -> tuple[str, str] | None:
    """Media type and base64 text; None when there are no bytes or none that a model takes."""
    kind = media_type(picture.data) if picture.data else None
    return (kind, b64encode(picture.data).decode()) if kind and picture.data else None


def placeholder(*, seen: bool) -> str:
    """What a model reads in a picture's place; `seen` says whether this model takes pictures."""
    why = "it could not be read" if seen else "this model can not see pictures"
    return f"[A picture was sent here; {why}.]"
