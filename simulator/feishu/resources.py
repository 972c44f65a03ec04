"""Pictures and files: message resources, uploads and what the app uploaded itself (section 5)."""

import re
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from simulator.feishu.call import Call, Route
from simulator.feishu.errors import FeishuError, bad_field
from simulator.state.files import StoredFile

Json = dict[str, Any]
MOST_IMAGE = 10 * 1024 * 1024
MOST_FILE = 30 * 1024 * 1024


def _send(call: Call, file: StoredFile) -> Response:
    """Answer with bytes; a Range header gets its part with 206."""
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}",
        "Content-Type": file.media_type or "application/octet-stream",
    }
    part = re.fullmatch(r"bytes=(\d+)-(\d*)", call.incoming.headers.get("range", ""))
    if part is None:
        return Response(file.data, headers=headers)
    start = int(part.group(1))
    end = min(int(part.group(2) or len(file.data)), len(file.data) - 1)
    headers["Content-Range"] = f"bytes {start}-{end}/{len(file.data)}"
    return Response(file.data[start : end + 1], 206, headers)


def message_resource(call: Call) -> Response:
    """GET a picture or file of a message; not of cards, stickers or forwarded children."""
    kind = call.query.get("type")
    if kind not in {"image", "file"}:
        raise bad_field("type is image or file")
    message = call.message(call.path["message_id"])
    if message.upper or message.msg_type in {"interactive", "sticker", "merge_forward"}:
        raise FeishuError(234043, "Unsupported message type.", 400)
    for attached in message.files:
        file = call.side.world.files.get(attached.key)
        is_image = attached.media_type.startswith("image/") and message.msg_type != "file"
        if attached.key == call.path["file_key"] and file and is_image == (kind == "image"):
            return _send(call, file)
    raise FeishuError(234003, "File not in message.", 400)


def _keep(call: Call, part: str, prefix: str, most: int, name: str = "") -> StoredFile:
    upload = call.incoming.uploads.get(part)
    if upload is None:
        raise bad_field(f"{part} is required, as multipart/form-data")
    if not upload.data:
        raise FeishuError(234010, "File's size can't be 0.", 400)
    if len(upload.data) > most:
        raise FeishuError(234006, "The file size exceed the max value.", 400)
    media = upload.media_type
    if prefix == "img_v3_" and not media.startswith("image/"):
        media = "image/png"
    return call.side.world.files.put(
        StoredFile(
            call.side.new_id(prefix), name or upload.name, media, upload.data, call.caller, call.now
        )
    )


def upload_image(call: Call) -> Json:
    """POST /im/v1/images."""
    if call.body.get("image_type") not in {"message", "avatar"}:
        raise bad_field("image_type is message or avatar")
    return {"image_key": _keep(call, "image", "img_v3_", MOST_IMAGE).key}


def upload_file(call: Call) -> Json:
    """POST /im/v1/files."""
    name = call.text("file_name")
    call.text("file_type")
    return {"file_key": _keep(call, "file", "file_v3_", MOST_FILE, name).key}


def own_upload(call: Call) -> Response:
    """GET what this app uploaded itself."""
    file = call.side.world.files.get(call.path["key"])
    if file is None or file.owner != call.caller:
        raise FeishuError(234008, "The app is not the resource sender.", 400)
    return _send(call, file)


ROUTES = [
    Route("GET", "/open-apis/im/v1/messages/:message_id/resources/:file_key", message_resource),
    Route("POST", "/open-apis/im/v1/images", upload_image, "app"),
    Route("POST", "/open-apis/im/v1/files", upload_file, "app"),
    Route("GET", "/open-apis/im/v1/images/:key", own_upload, "app"),
    Route("GET", "/open-apis/im/v1/files/:key", own_upload, "app"),
]
