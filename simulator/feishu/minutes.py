"""Minutes as a person: search, base, artifacts, transcript (FEISHU.md section 6)."""

from datetime import UTC, datetime
from typing import Any, cast

from starlette.responses import PlainTextResponse, Response

from simulator.company import Meeting
from simulator.feishu.call import Call, Route
from simulator.feishu.errors import FeishuError, bad_field
from simulator.feishu.search import names, time_range
from simulator.state.matching import highlight, score

Json = dict[str, Any]
MONTH_S = 31 * 86400
LEAST = 0.34


def _all_text(meeting: Meeting) -> str:
    rows = [*meeting.chapters, *meeting.todos, *meeting.transcript]
    texts = " ".join(f"{row.get('title', '')} {row.get('text', '')}" for row in rows)
    return f"{meeting.title} {meeting.summary} {texts}"


def _fits(call: Call, meeting: Meeting, wanted: Json) -> bool:
    start, end = time_range(wanted.get("create_time"))
    owners, people = names(wanted.get("owner_ids")), names(wanted.get("participant_ids"))
    there = {call.side.open_id(login) for login in meeting.participants}
    return (
        start <= meeting.started <= end
        and (not owners or call.side.open_id(meeting.owner) in owners)
        and (not people or bool(people & there))
    )


def search(call: Call) -> Json:
    """POST /minutes/v1/minutes/search: a query or a filter, a range of one month at most."""
    call.limit_searches("minutes")
    query = str(call.body.get("query") or "")
    wanted = cast("Json", call.body.get("filter") or {})
    if len(query) > 50:
        raise bad_field("query is longer than 50 characters")
    if not query and not wanted:
        raise bad_field("query or filter is required")
    start, end = time_range(wanted.get("create_time"))
    if wanted.get("create_time") and end - start > MONTH_S:
        raise bad_field("create_time spans more than a month")
    rated = [
        (score(query, _all_text(meeting)), meeting.started, meeting)
        for meeting in call.side.world.company.meetings
        if meeting.open_to(call.caller) and _fits(call, meeting, wanted)
    ]
    rated.sort(key=lambda row: (-row[0], -row[1]))
    hits = [meeting for rate, _, meeting in rated if rate >= LEAST][:200]
    items, token = call.page(hits, 30, 15)
    return {
        "items": [_item(call, query, meeting) for meeting in items],
        "total": len(hits),
        "has_more": bool(token),
        "page_token": token,
    }


def _item(call: Call, query: str, meeting: Meeting) -> Json:
    day = datetime.fromtimestamp(meeting.started, UTC).strftime("%Y-%m-%d %H:%M")
    return {
        "token": meeting.token,
        "display_info": highlight(query, meeting.title),
        "meta_data": {
            "app_link": meeting.url,
            "avatar": "",
            "description": f"{day} {call.side.world.company.shown(meeting.owner)}",
        },
    }


def _readable(call: Call) -> Meeting:
    token = call.path["minute_token"]
    meeting = next((m for m in call.side.world.company.meetings if m.token == token), None)
    if meeting is None:
        raise FeishuError(2091002, "minute not found", 404)
    if not meeting.open_to(call.caller):
        raise FeishuError(2091005, "permission deny", 403)
    return meeting


def base(call: Call) -> Json:
    """GET /minutes/v1/minutes/:minute_token; times in milliseconds, as strings."""
    meeting = _readable(call)
    return {
        "minute": {
            "token": meeting.token,
            "owner_id": call.side.open_id(meeting.owner),
            "create_time": str(int(meeting.started * 1000)),
            "title": meeting.title,
            "cover": "",
            "duration": str(meeting.duration_s * 1000),
            "url": meeting.url,
        }
    }


def artifacts(call: Call) -> Json:
    """GET …/artifacts: summary, chapters and todos."""
    meeting = _readable(call)
    starts = [int(row["start_s"]) for row in meeting.chapters] + [meeting.duration_s]
    return {
        "summary": meeting.summary,
        "minute_chapters": [
            {
                "title": row["title"],
                "start_ms": str(starts[index] * 1000),
                "stop_ms": str(starts[index + 1] * 1000),
                "summary_content": row["text"],
            }
            for index, row in enumerate(meeting.chapters)
        ],
        "minute_todos": [
            {
                "content": row["text"],
                "assignees": [call.side.open_id(row["owner"])] if row.get("owner") else [],
                "is_done": False,
            }
            for row in meeting.todos
        ],
    }


def _stamp(seconds: float, tail: str = "") -> str:
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{tail}"


def transcript(call: Call) -> Response:
    """GET …/transcript: a file of text, txt or srt, not JSON."""
    meeting = _readable(call)
    srt = call.query.get("file_format") == "srt"
    speakers = call.query.get("need_speaker") == "true"
    stamps = call.query.get("need_timestamp") == "true"
    name = call.side.world.company.shown
    lines: list[str] = []
    rows = meeting.transcript
    for index, row in enumerate(rows):
        who = name(str(row["speaker"])) if speakers else ""
        if srt:
            end = rows[index + 1]["start_s"] if index + 1 < len(rows) else meeting.duration_s
            span = f"{_stamp(row['start_s'], ',000')} --> {_stamp(end, ',000')}"
            lines += [str(index + 1), span, f"{who}: {row['text']}" if who else row["text"], ""]
        else:
            head = " ".join(
                part for part in (who, _stamp(row["start_s"]) if stamps else "") if part
            )
            lines += [*([head] if head else []), row["text"]]
    ending = "srt" if srt else "txt"
    return PlainTextResponse(
        "\n".join(lines) + "\n",
        headers={"Content-Disposition": f'attachment; filename="transcript.{ending}"'},
    )


_ONE = "/open-apis/minutes/v1/minutes/:minute_token"
ROUTES = [
    Route("POST", "/open-apis/minutes/v1/minutes/search", search, "user"),
    Route("GET", _ONE, base),
    Route("GET", f"{_ONE}/artifacts", artifacts),
    Route("GET", f"{_ONE}/transcript", transcript),
]
