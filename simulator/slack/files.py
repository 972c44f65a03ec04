"""files.*: information and uploads in three steps (SLACK.md section 4)."""

from typing import Any, cast

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from simulator.slack.call import Call, Method
from simulator.slack.chat import root_of
from simulator.slack.errors import SlackError, invalid
from simulator.slack.show import file_item
from simulator.slack.side import SlackSide
from simulator.state.files import StoredFile
from simulator.state.workspace import Attachment, Message
from simulator.wire import read

Json = dict[str, Any]


def visible_file(side: SlackSide, caller: str, key: str) -> StoredFile | None:
    """Return a file its caller owns or sees in a chat, else None."""
    file = side.world.files.get(key)
    if file is None or file.owner == caller:
        return file
    for message in side.space.everything(caller):
        if any(attached.key == key for attached in message.files):
            return file
    return None


def info(call: Call) -> Json:
    """files.info."""
    file = visible_file(call.side, call.caller, call.need("file", "file_not_found"))
    if file is None:
        raise SlackError("file_not_found")
    return {"file": file_item(call.side, Attachment(file.key, file.name, file.media_type))}


def upload_url(call: Call) -> Json:
    """files.getUploadURLExternal: an address for the bytes of one file."""
    name, length = call.need("filename"), call.number("length", 0)
    if length < 1:
        raise invalid("length must be positive")
    key = call.side.new_id("F")
    call.side.pending_uploads[key] = {"name": name, "length": length, "owner": call.caller}
    return {"upload_url": f"{call.side.world.origin}/files/upload/{key}", "file_id": key}


async def take_upload(side: SlackSide, request: Request) -> Response:
    """POST the bytes, raw or as a form."""
    incoming = await read(request)
    key = incoming.path.rpartition("/")[2]
    pending = side.pending_uploads.get(key)
    if pending is None:
        return PlainTextResponse("unknown upload", 404)
    upload = next(iter(incoming.uploads.values()), None)
    data = upload.data if upload else incoming.raw
    if len(data) != pending["length"]:
        return PlainTextResponse("length differs", 400)
    media = _media_type(str(pending["name"]))
    side.world.files.put(
        StoredFile(key, str(pending["name"]), media, data, pending["owner"], side.world.clock.now())
    )
    return PlainTextResponse(f"OK - {len(data)}")


def _media_type(name: str) -> str:
    endings = {
        "png": "image/png",
        "jpg": "image/jpeg",
        "jpeg": "image/jpeg",
        "pdf": "application/pdf",
        "txt": "text/plain",
        "md": "text/markdown",
        "csv": "text/csv",
    }
    return endings.get(name.rpartition(".")[2].lower(), "application/octet-stream")


def complete_upload(call: Call) -> Json:
    """files.completeUploadExternal: share uploaded files in a chat, if one is named."""
    rows = call.json("files")
    if not isinstance(rows, list) or not rows:
        raise invalid("files is no list")
    kept: list[Attachment] = []
    for row in cast("list[Json]", rows):
        file = call.side.world.files.get(str(row.get("id")))
        if file is None or file.owner != call.caller:
            raise SlackError("file_not_found")
        call.side.pending_uploads.pop(file.key, None)
        kept.append(Attachment(file.key, file.name, file.media_type))
    if call.text("channel_id") or call.text("channels"):
        _share(call, kept)
    return {"files": [file_item(call.side, file) for file in kept]}


def _share(call: Call, files: list[Attachment]) -> None:
    chat = call.channel("channel_id" if call.text("channel_id") else "channels")
    comment = call.text("initial_comment")
    call.side.space.add(
        Message(
            id=call.side.new_ts(),
            chat=chat.id,
            author=call.caller,
            at=call.now,
            text=comment,
            thread=root_of(call, chat),
            files=files,
            extra={"raw_text": comment},
        )
    )


METHODS = {
    "files.info": Method(info),
    "files.getUploadURLExternal": Method(upload_url),
    "files.completeUploadExternal": Method(complete_upload),
}
