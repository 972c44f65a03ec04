"""The text of canvases, and which of them are the notes of a meeting (SLACK.md §5)."""

from __future__ import annotations

import re
from typing import Final

from connectors.personal import evidence
from connectors.slack.personal.client import UserCalls

_MEETING_TITLE: Final = re.compile(
    r"\b(?:huddle|meeting|minutes|meeting notes|stand-?up|retro|post-?mortem|weekly|sync|call)\b"
    r"|会议|纪要|妙记|例会|周会|月会|站会|复盘|评审",
    re.IGNORECASE,
)
_SPEAKER: Final = re.compile(
    r"^\*\*[^*\n]{1,80}\*\*\s*[:：]|^\*\*[^*\n]{1,80}[:：]\*\*", re.MULTILINE
)
_PART: Final = re.compile(
    r"^#{1,4} *(?:attendees|participants|action items|to-?dos?|next steps|decisions|transcript"
    r"|与会|参会|待办|行动项|决议|纪要|转写)",
    re.IGNORECASE | re.MULTILINE,
)
_FEW_SPEAKERS: Final = 2


async def text_of(calls: UserCalls, ident: str) -> str:
    """A canvas as markdown; "" for an empty one.

    Raises:
        Denied: the asker may not read it, or it is gone.
        SignInNeeded, ScopeMissing, RateLimited, Unavailable: as every call.
    """
    form = {"canvas_id": ident, "content_type": "markdown"}
    answer = await calls.call("canvases.getContent", form)
    return evidence.long_text(answer.get("content"))


def is_minutes(title: str, text: str) -> bool:
    """Whether a canvas looks like the notes of a meeting: by its title, speakers or usual parts.

    Slack marks its own notes of huddles in no documented way, and people write theirs by hand.
    """
    speakers = len(_SPEAKER.findall(text)) >= _FEW_SPEAKERS
    return speakers or bool(_MEETING_TITLE.search(title) or _PART.search(text))
